const MASK = '***'

/** Lines of a secret that are shorter stand everywhere, such as a brace of JSON. */
const MIN_LINE = 3

/** What is hidden because of secrets: each of them, and each line of one that has several, since a log has lines. The longest first. */
export function masksOf(secrets: readonly string[]): string[] {
  const pieces = secrets.flatMap((secret) => {
    const lines = secret.split(/\r?\n/).map((line) => line.trim())
    return lines.length === 1 ? lines : lines.filter((line) => line.length >= MIN_LINE)
  })
  const distinct = [...new Set(pieces)].filter((piece) => piece !== '')
  return distinct.sort((one, other) => other.length - one.length)
}

export const hideMasked = (text: string, masks: readonly string[]): string =>
  masks.reduce((shown, mask) => shown.replaceAll(mask, () => MASK), text)
