import { expect, test } from 'bun:test'
import { writePayload } from '../../../src/actions/workflows/payload.ts'
import { planJobs } from '../../../src/actions/workflows/plan.ts'
import { readWorkflow } from '../../../src/actions/workflows/read.ts'
import { EVERYTHING } from './everything.ts'
import { seeded } from './seeded.ts'
import { contexts, PATH } from './support.ts'

const JUNK = [
  'null',
  '[]',
  '{}',
  '[[1]]',
  '{ a: { b: c } }',
  '1',
  '-1',
  '""',
  '.nan',
  '!!str 1',
  '*none',
  '&x y',
  '? x',
  '- a',
  '__proto__: { a: b }',
  'constructor: 1',
  '"\\0"',
  `\${{ github.event.*.x }}`,
  `\${{ fromJSON('[1]') }}`,
  `\${{ success() }}`,
]
const WORDS = ['build', 'report', 'on', 'jobs', '1', '__proto__', 'constructor', 'toString']

/** The workflow with one to three lines lost, doubled or spoiled. */
function spoil(next: (bound: number) => number): string {
  const lines = EVERYTHING.split('\n')
  for (let count = next(3) + 1; count > 0; count -= 1) {
    const at = next(lines.length)
    const line = lines[at] ?? ''
    const junk = JUNK[next(JUNK.length)] ?? ''
    const changes = [
      [],
      [line, line],
      [line.replace(/:.*/, () => `: ${junk}`)],
      [`${' '.repeat(next(6))}${junk}`],
      [line.replace(/\w+/, WORDS[next(WORDS.length)] ?? '')],
    ]
    lines.splice(at, 1, ...(changes[next(changes.length)] ?? []))
  }
  return lines.join('\n')
}

test('whatever a file says, it is a workflow that can be planned, or it has errors', async () => {
  const next = seeded(20)
  let readable = 0
  for (let round = 0; round < 80; round += 1) {
    const { workflow, errors } = await readWorkflow(spoil(next), { path: PATH })
    expect(workflow === undefined).toBe((errors ?? []).length > 0)
    if (!workflow) continue
    readable += 1
    const { plan } = planJobs({ workflow: JSON.parse(JSON.stringify(workflow)), called: {} }, contexts())
    const jobs = plan?.jobs ?? []
    expect(new Set(jobs.map(({ key }) => key)).size).toBe(jobs.length)
    for (const job of jobs) if (job.state === 'ready') writePayload(workflow, job)
  }
  expect(readable).toBeGreaterThan(3)
})
