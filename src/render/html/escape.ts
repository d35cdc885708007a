const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;' }
const ESCAPED: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&#34;': '"' }

/** Text as it stands between tags or inside double quotes. */
export function escapeHtml(text: string): string {
  // Most pieces have nothing to escape; the test is a tenth of the cost of a replacement.
  return /[&<>"]/.test(text) ? text.replace(/[&<>"]/g, (character) => ESCAPES[character] ?? character) : text
}

/** The text that `escapeHtml` has written. */
export function unescapeHtml(written: string): string {
  if (!written.includes('&')) return written
  return written.replace(/&(?:amp|lt|gt|#34);/g, (reference) => ESCAPED[reference] ?? reference)
}
