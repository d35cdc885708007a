import { convert } from '@asciidoctor/core'

/** AsciiDoc in its strictest mode: nothing is read from disk or network, and the text learns nothing about the host. */
export async function renderAsciidoc(source: string): Promise<string> {
  const html: unknown = await convert(source, {
    safe: 'secure',
    standalone: false,
    // Warnings are about the text of a user. They do not belong in the log of the server.
    logger: null,
    attributes: { showtitle: true, idprefix: '', idseparator: '-', 'max-include-depth': 0 },
  })
  return typeof html === 'string' ? html : ''
}
