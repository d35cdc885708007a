import { escapeHtml } from '../kernel/html.ts'

/** What a mail says, before it has the form of one. */
export interface Letter {
  /** One person: nobody sees the address of another. */
  to: { address: string; name?: string }
  subject: string
  /** A text is plain, whatever it holds; a link stands on a line of its own. */
  paragraphs: readonly (string | { link: string })[]
}

/** Everything that a mail program could take for the end of a line, or for more than text. */
const CONTROL = /\p{Cc}+|[\u2028\u2029]+/gu

/** One line without control characters: nothing breaks out of a header field or a paragraph. */
export const oneLine = (text: string): string => text.replace(CONTROL, ' ').trim()

const textOf = (paragraph: Letter['paragraphs'][number]): string =>
  typeof paragraph === 'string' ? oneLine(paragraph) : paragraph.link

/** The letter and who sends it, as plain text. */
export function plainText({ paragraphs }: Letter, baseUrl: string): string {
  return `${paragraphs.map(textOf).join('\n\n')}\n\n-- \nHearth at ${baseUrl}\n`
}

/** The same as HTML: nothing but paragraphs and links, nothing from elsewhere. */
export function html({ subject, paragraphs }: Letter, baseUrl: string): string {
  const anchor = (link: string) => `<a href="${escapeHtml(link)}">${escapeHtml(link)}</a>`
  const inner = paragraphs.map((paragraph) =>
    typeof paragraph === 'string' ? escapeHtml(oneLine(paragraph)) : anchor(paragraph.link),
  )
  const body = [...inner, `Hearth at ${anchor(baseUrl)}`].map((text) => `<p>${text}</p>`).join('\n')
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escapeHtml(subject)}</title></head>
<body>
${body}
</body>
</html>
`
}
