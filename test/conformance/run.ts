// Replays recorded exchanges against the whole program: `bun test/conformance/run.ts [scenarios/misc.json ...]`. The kit
// is a folder beside the clone and needs Python; without it there is nothing to replay.
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { startTestService } from '../harness/service.ts'

const kit = resolve(import.meta.dir, '../../../shared/conformance')

export interface ConformanceResult {
  passed: number
  failed: number
  skipped: number
}

/** Each scenario counts as one. Without names: those of finished.txt. */
export async function checkConformance(names = finishedScenarios()): Promise<ConformanceResult> {
  if (!existsSync(kit)) {
    process.stdout.write('There is no conformance kit beside this clone.\n')
    return { passed: 0, failed: 0, skipped: names.length }
  }
  // The kit's own checks replace ours, and its background work has to run by itself.
  const service = await startTestService({ worksJobs: true, checksContract: false })
  try {
    const result = { passed: 0, failed: 0, skipped: 0 }
    for (const name of names) {
      const isAgreed = await replay(name, [service.url, service.admin.name, service.admin.password])
      if (isAgreed) result.passed += 1
      else result.failed += 1
    }
    return result
  } finally {
    await service.stop()
  }
}

function finishedScenarios(): string[] {
  const lines = readFileSync(join(import.meta.dir, 'finished.txt'), 'utf8').split('\n')
  return lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'))
}

/** Prints the kit's report only where something differs. */
async function replay(scenario: string, target: readonly string[]): Promise<boolean> {
  const check = Bun.spawn(['python3', join(kit, 'conformance'), 'check', ...target, join(kit, scenario)], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const report = await new Response(check.stdout).text()
  const isAgreed = (await check.exited) === 0
  process.stdout.write(isAgreed ? `agrees  ${scenario}\n` : `DIFFERS ${scenario}\n${report}\n`)
  return isAgreed
}

if (import.meta.main) {
  const names = process.argv.slice(2)
  const { failed } = await checkConformance(names.length > 0 ? names : undefined)
  process.exit(failed === 0 ? 0 : 1)
}
