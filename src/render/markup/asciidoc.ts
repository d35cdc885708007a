import { convert } from '@asciidoctor/core'

/** AsciiDoc in its strictest mode: nothing is read from disk or network, no attribute of the host is told. */
export async function renderAsciidoc(source: string): Promise<string> {
  const html: unknown = await convert(source, {
    safe: 'secure',
    standalone: false,
    // Faults of a text are the writer's; each would become a line in the log of the server.
    logger: null,
    attributes: { showtitle: true, idprefix: '', idseparator: '-', 'max-include-depth': 0 },
  })
  return typeof html === 'string' ? html : ''
}
