import { expect, test } from 'bun:test'
import { cpuMs } from '../../harness/cpu.ts'
import { faultsOf, planOf, statesOf, withJobs } from './support.ts'

const step = '    steps: [{ run: x }]'
const withSchedule = (cron: string): string =>
  `on:\n  schedule:\n    - cron: "${cron}"\njobs:\n  a:\n    runs-on: x\n${step}`
const bomb = [
  'a: &a [x,x,x,x,x,x,x,x,x]',
  ...'bcdefghi'
    .split('')
    .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghi'[index]}`).join(',')}]`),
].join('\n')

test.each([
  ['aliases of aliases', bomb, 'Aliases are used more than 100 times.'],
  ['an alias of itself', 'a: &a [*a]', 'Lists and mappings are within each other more than 40 times.'],
  [
    'deep lists',
    `a: ${'['.repeat(50)}${']'.repeat(50)}`,
    'Lists and mappings are within each other more than 40 times.',
  ],
  ['very deep lists', `a: ${'['.repeat(100_000)}`, 'Lists and mappings'],
  ['very deep lists in lines', '- '.repeat(100_000), 'Lists and mappings'],
  ['very deep mappings', `a: ${'{a: '.repeat(50_000)}`, 'Lists and mappings'],
  ['many values', `a: [${'x,'.repeat(20_001)}]`, 'There are more than 20000 values.'],
  ['a long file', `# ${'x'.repeat(256 * 1024)}`, 'The file is longer than 262144 bytes.'],
  ['a NUL', 'name: x # \0', 'A text holds a NUL, or half of a character.'],
  ['a NUL that is written out', 'name: "a\\0b"', 'A text holds a NUL, or half of a character.'],
  ['half of a character', 'name: "\\ud800"', 'A text holds a NUL, or half of a character.'],
  ['a NUL in a key', '"a\\0": x', 'A text holds a NUL, or half of a character.'],
  ['a long schedule', withSchedule(`${'0,'.repeat(200)}0 * * * *`), 'A schedule has more than 255 characters.'],
  ['a value that is no text', 'a: !!binary aGk=', 'This kind of value cannot be read.'],
])('%s are refused', async (_, text, reason) => {
  const [first] = await faultsOf(text)
  expect(first).toContain(reason)
})

test('a pattern too many is refused', async () => {
  const list = Array.from({ length: 101 }, () => 'a').join(', ')
  const [first] = await faultsOf(`on:\n  push:\n    branches: [${list}]\njobs:\n  a:\n    runs-on: x\n${step}`)
  expect(first).toBe('3:5 There are more than 100 patterns.')
})

const nested = (depth: number): string =>
  depth === 0 ? `'${'x'.repeat(100)}'` : `format('${'{0}'.repeat(10)}', ${nested(depth - 1)})`

test.each([
  ['texts within texts', nested(7), 'The expressions make more than'],
  [
    'lists within lists',
    `join(fromJSON('[${'"",'.repeat(5000)}""]'), toJSON(github.event.long))`,
    'The expressions make more than',
  ],
  ['a function that is none', 'constructor(github)', 'There is no function `constructor`.'],
])('an expression that makes %s is refused', async (_, expression, reason) => {
  const text = withJobs(`  a:\n    name: \${{ ${expression} }}\n    runs-on: x\n${step}`)
  const github = { event: { long: 'x'.repeat(2000) } }
  const [state] = statesOf(await planOf(text, { github }))
  expect(state).toContain(reason)
})

test('a value from an expression is not too deep', async () => {
  const vars = {
    DEEP: `{"a":${'['.repeat(50)}${']'.repeat(50)}}`,
    VERY: `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
  }
  for (const name of ['DEEP', 'VERY']) {
    const text = withJobs(`  a:\n    strategy: { matrix: '\${{ fromJSON(vars.${name}) }}' }\n    runs-on: x\n${step}`)
    expect(statesOf(await planOf(text, { vars }))[0]).toMatch(
      /^a: (A value is more than 40 levels deep|The expression)/,
    )
  }
})

test('all expressions of a run share one limit', async () => {
  const jobs = Array.from(
    { length: 100 },
    (_, index) => `  a${index}:\n    name: \${{ ${nested(3)} }}\n    runs-on: x\n${step}`,
  ).join('\n')
  const states = statesOf(await planOf(withJobs(jobs)))
  expect(states.at(0)).toBe('a0: ready')
  expect(states.at(-1)).toContain('The expressions make more than')
})

test('a run has no more than 1,000 jobs', async () => {
  const jobs = Array.from(
    { length: 5 },
    (_, index) => `  a${index}:\n    runs-on: x\n    strategy: { matrix: { a: [${'1,'.repeat(255)}1] } }\n${step}`,
  ).join('\n')
  await expect(planOf(withJobs(jobs))).rejects.toThrow('The run has more than 1000 jobs.')
})

test('the alias bomb costs next to nothing', async () => {
  expect(await cpuMs(() => faultsOf(bomb))).toBeLessThan(2000)
})
