import type { ActionsConclusion } from '../../../db/schema/actions.ts'
import { escapeHtml } from '../../kernel/html.ts'

/** Words and colours. White stands out from each of them by 4.5 to 1 at least. */
const looks: Record<ActionsConclusion | 'none', { word: string; color: string }> = {
  success: { word: 'passing', color: '#1a7f37' },
  failure: { word: 'failing', color: '#cf222e' },
  cancelled: { word: 'cancelled', color: '#57606a' },
  skipped: { word: 'skipped', color: '#57606a' },
  none: { word: 'no status', color: '#57606a' },
}

const HEIGHT = 20
/** On both sides of a text. */
const PADDING = 8
/** About what letters take in the fonts below. The text is fitted to it. */
const [LATIN_WIDTH, WIDE_WIDTH] = [6.5, 11]

/** A picture of one line: a name, and what became of it. It needs nothing from elsewhere. */
export function drawBadge(name: string, conclusion: ActionsConclusion | undefined): string {
  const { word, color } = looks[conclusion ?? 'none']
  const left = measure(name)
  const right = measure(word)
  const [split, width] = [left + 2 * PADDING, left + right + 4 * PADDING]
  const title = clean(`${name}: ${word}`)
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" viewBox="0 0 ${width} ${HEIGHT}" role="img" aria-label="${title}">
<title>${title}</title>
<rect width="${width}" height="${HEIGHT}" rx="3" fill="#24292f"/>
<path d="M${split} 0h${width - split - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-${width - split - 3}z" fill="${color}"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" aria-hidden="true">
${write(name, PADDING, left)}
${write(word, split + PADDING, right)}
</g>
</svg>
`
}

const write = (text: string, x: number, width: number): string =>
  `<text x="${x}" y="14" textLength="${width}" lengthAdjust="spacingAndGlyphs">${clean(text)}</text>`

function measure(text: string): number {
  let width = 0
  for (const letter of text) width += letter < '\u1100' ? LATIN_WIDTH : WIDE_WIDTH
  return Math.ceil(width)
}

/** XML 1.0 has no control characters, whatever they are written as. */
const clean = (text: string): string => escapeHtml(text.toWellFormed().replace(/[\p{Cc}\ufffe\uffff]/gu, '\ufffd'))
