import { withContext } from '../assemble.ts'
import type { Config } from '../config.ts'
import { createLog } from '../log.ts'
import type { DataProblem } from './data/check.ts'
import { checkData } from './data/check-data.ts'
import { progressLine } from './progress-line.ts'

export interface DataOptions {
  isRepairing: boolean
  isQuick: boolean
}

/** Looks through rows and folders, prints each fault as it is found, and returns the exit status. */
export function printData(config: Config, { isRepairing, isQuick }: DataOptions): Promise<number> {
  return withContext(config, async (context) => {
    const stopping = new AbortController()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())
    const counts = { found: 0, repaired: 0 }
    const { repositories, folders } = await checkData({
      // What is done is printed below; the log would repeat it.
      context: { ...context, log: createLog({ ...config, logLevel: 'silent' }) },
      isRepairing,
      looksAtObjects: !isQuick,
      signal: stopping.signal,
      found(fault) {
        counts.found += 1
        if (fault.isRepaired) counts.repaired += 1
        process.stdout.write(describe(fault))
      },
      progress: progressLine(),
    })
    if (stopping.signal.aborted) {
      process.stdout.write('\nStopped before the end.\n')
      return 1
    }
    const left = counts.found - counts.repaired
    const looked = `${repositories} repositories and ${folders} folders were looked through`
    const result = left === 0 ? 'All is well' : `${left} ${left === 1 ? 'fault is' : 'faults are'} left`
    const repaired = counts.repaired === 0 ? '' : `, ${counts.repaired} repaired`
    process.stdout.write(`${counts.found === 0 ? '' : '\n'}${result}${repaired}: ${looked}.\n`)
    return left === 0 ? 0 : 1
  })
}

function describe({ subject, detail, remedy, isRepaired }: DataProblem): string {
  if (isRepaired) return `REPAIRED ${subject}: ${detail}\n       What was done: it ${remedy}\n`
  return `FAULT  ${subject}: ${detail}\n       To fix it: ${remedy}\n`
}
