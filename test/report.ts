// What a run of tests came to, from the file that `bun test --reporter=junit` writes.

export interface TestResult {
  passed: number
  failed: number
  /** File and name of each. */
  skipped: string[]
  /** Of each failed test its file, its name and why, to be told again at the end of a long log. */
  faults: string[]
  /** What could not run at all on this machine, and how it can: one line each. */
  notes?: readonly string[]
}

/** Of one fault: an answer that was compared whole may be long. */
const MAX_LINES = 40

/** A run that failed outside of any test (a file that does not load, no test at all) counts as one failure. */
export function readReport(xml: string, exitCode: number): TestResult {
  const suites = /<testsuites [^>]*>/.exec(xml)?.[0] ?? ''
  const count = (name: string) => Number(new RegExp(` ${name}="(\\d+)"`).exec(suites)?.[1] ?? 0)
  const [tests, failures, skipped] = [count('tests'), count('failures') + count('errors'), count('skipped')]
  const isUnexplained = (exitCode !== 0 && failures === 0) || tests === 0
  return {
    passed: tests - failures - skipped,
    failed: isUnexplained ? failures + 1 : failures,
    skipped: [...xml.matchAll(SKIPPED)].map(({ groups }) => title(groups ?? {})),
    faults: [...xml.matchAll(FAULT)].map(({ groups }) => describe(groups ?? {})),
  }
}

const CASE = '<testcase name="(?<name>[^"]*)"[^>]* file="(?<file>[^"]*)"[^>]*>\\s*'
const SKIPPED = new RegExp(`${CASE}<skipped`, 'g')
const FAULT = new RegExp(`${CASE}<failure[^>]*>(?<why>[^<]*)</failure>`, 'g')

const title = ({ name = '', file = '' }: Record<string, string>): string => `${file}: ${decodeEntities(name)}`

function describe({ why = '', ...named }: Record<string, string>): string {
  const lines = decodeEntities(why).trim().split('\n')
  const shown = lines.slice(0, MAX_LINES).map((line) => `  ${line}`)
  const more = lines.length > MAX_LINES ? [`  ... ${lines.length - MAX_LINES} more lines above`] : []
  return [`(fail) ${title(named)}`, ...shown, ...more].join('\n')
}

const CHARACTERS: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const decodeEntities = (text: string): string =>
  text.replace(/&(?:#(\d+)|(\w+));/g, (whole, code: string | undefined, name: string) =>
    code === undefined ? (CHARACTERS[name] ?? whole) : String.fromCodePoint(Number(code)),
  )

/** What ends every run: `12 passed, 0 failed`, alone on the last line; before it what was skipped, by name, and what is missing. */
export function resultLine({ passed, failed, skipped, notes = [] }: Omit<TestResult, 'faults'>): string {
  return [...skipped.map((name) => `(skip) ${name}`), ...notes, `${passed} passed, ${failed} failed`].join('\n')
}
