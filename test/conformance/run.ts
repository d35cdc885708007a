// Replays recorded exchanges against the whole program: `bun test/conformance/run.ts [scenarios/misc.json ...]`. The kit
// is a folder beside the clone and needs Python; without it there is nothing to replay.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { startShipped } from '../harness/shipped.ts'
import type { TestResult } from '../report.ts'

const kit = resolve(import.meta.dir, '../../../shared/conformance')

interface Scenario {
  path: string
  /** Steps that differ on purpose. One that agrees after all is a fault too: then the list is out of date. */
  differing: readonly string[]
}

/** A scenario waits most of its time: for one answer after the other. The names that each makes up are its own. */
const AT_ONCE = 4

/** Each scenario counts as one. Without names: those of finished.txt. */
export async function checkConformance(scenarios = finishedScenarios()): Promise<TestResult> {
  const result: TestResult = { passed: 0, failed: 0, skipped: [], faults: [] }
  if (!existsSync(kit)) return { ...result, notes: [missingKit(scenarios.length)] }
  const service = await startShipped()
  const waiting = [...scenarios]
  const work = async () => {
    for (let scenario = waiting.shift(); scenario; scenario = waiting.shift()) {
      const isAgreed = await replay(scenario, [service.url, service.admin.name, service.admin.password])
      if (isAgreed) result.passed += 1
      else result.failed += 1
      if (!isAgreed) result.faults.push(`(fail) ${scenario.path}`)
    }
  }
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    return result
  } finally {
    await service.stop()
  }
}

const missingKit = (count: number): string =>
  `Not run: ${count} recorded scenarios. Their kit, ${kit}, does not come with a clone; all else is tested without it.`

function finishedScenarios(): Scenario[] {
  const lines = readFileSync(join(import.meta.dir, 'finished.txt'), 'utf8').split('\n')
  return lines
    .map((line) => line.trim())
    .flatMap((line) => {
      const [path = '', except, ...differing] = line.split(/[\s,]+/)
      return path === '' || path.startsWith('#') ? [] : [{ path, differing: except === 'except' ? differing : [] }]
    })
}

const Report = Type.Object({ steps: Type.Array(Type.Object({ step: Type.String(), outcome: Type.String() })) })

/** Prints the kit's report only where something differs that is not listed, or agrees that is. */
async function replay({ path, differing }: Scenario, target: readonly string[]): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'hearth-conformance-'))
  try {
    const results = join(folder, 'results.json')
    const words = ['check', ...target, join(kit, path), '--json', results]
    const check = Bun.spawn(['python3', join(kit, 'conformance'), ...words], {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'inherit',
    })
    const text = await new Response(check.stdout).text()
    await check.exited
    const report: unknown = await Bun.file(results).json()
    if (!Value.Check(Report, report)) throw new Error(`the kit wrote no report of ${path}`)
    const found = report.steps.filter(({ outcome }) => outcome !== 'agree').map(({ step }) => step)
    const isAgreed = found.sort().join() === [...differing].sort().join()
    const exceptions = differing.length > 0 ? ` (but for ${differing.join(', ')}, on purpose)` : ''
    process.stdout.write(isAgreed ? `agrees  ${path}${exceptions}\n` : `DIFFERS ${path}\n${text}\n`)
    return isAgreed
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const named = process.argv.slice(2).map((path) => ({ path, differing: [] }))
  const { passed, failed, notes = [] } = await checkConformance(named.length > 0 ? named : undefined)
  for (const note of notes) process.stderr.write(`${note}\n`)
  // Nothing replayed is nothing proven.
  process.exit(failed === 0 && passed > 0 ? 0 : 1)
}
