export interface LicenseNotice {
  year: number
  holder: string
  project: string
}

/** These texts show how to write a notice in other files: the text itself must stay as it is. */
const FIXED = /^(?:[AL]?GPL|GFDL|Apache|ECL-2|SHL|ImageMagick|MPL|EPL|CDDL|CC|OSL|AFL|NPOSL|UCL|EUPL|Mulan)-?/

/** These two name their first holder, or use words without brackets, where every other user puts a notice. */
const NOTICE_LINES: Readonly<Record<string, RegExp>> = {
  '0BSD': /^Copyright \(C\) YEAR by AUTHOR EMAIL$/m,
  ISC: /^Copyright \(c\) .*Internet Systems Consortium.*\n.*Internet Software Consortium.*$/m,
}

const YEAR = '(?:<years?>|<yyyy>|\\[year\\]|\\[yyyy\\]|\\{year\\}|\\[xxxx\\])'
const HOLDER_WORDS = [
  'copyright holders?',
  'holders?',
  'owner',
  'author',
  'name of author',
  'name of copyright (?:owner|holder)',
  "copyright holder's name",
  'full ?name',
  'owner organization(?: name)?',
  'organization',
  'asset owner',
  'licensor name',
  'name',
].join('|')
const HOLDER = `(?:<(?:${HOLDER_WORDS})>|\\[(?:${HOLDER_WORDS})\\]|\\{(?:${HOLDER_WORDS})\\})`
const PROJECT = '(?:<(?:program|software|project|asset) ?(?:name)?>|\\[(?:project|software|program) ?(?:name)?\\])'

/** A license text with its blanks filled in on the lines that state the copyright; other lines are the license's own. */
export function fillLicense(key: string, text: string, notice: LicenseNotice): string {
  if (FIXED.test(key)) return text
  const line = Object.hasOwn(NOTICE_LINES, key) ? NOTICE_LINES[key] : undefined
  if (line) return text.replace(line, () => `Copyright (c) ${notice.year} ${notice.holder}`)
  const blanks = [
    { blank: new RegExp(YEAR, 'gi'), value: String(notice.year) },
    { blank: new RegExp(HOLDER, 'gi'), value: notice.holder },
    { blank: new RegExp(PROJECT, 'gi'), value: notice.project },
  ]
  return text
    .split('\n')
    .map((line) => (/copyright|©/i.test(line) ? fillLine(line, blanks) : line))
    .join('\n')
}

function fillLine(line: string, blanks: { blank: RegExp; value: string }[]): string {
  // A function as replacement, or "$&" in a person's name would be taken for a pattern.
  return blanks.reduce((filled, { blank, value }) => filled.replace(blank, () => value), line)
}
