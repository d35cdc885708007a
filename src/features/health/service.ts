import { access, constants } from 'node:fs/promises'
import type { Context } from '../../context.ts'
import { wireTime } from '../../kernel/time.ts'
import { within } from '../../kernel/within.ts'

export interface HealthCheck {
  status: 'pass' | 'fail'
  time: string
  /** What is wrong, without a detail that a visitor should not know. */
  output: string
}

/** Less than probes wait. Of a silent database, or a disk behind a network, the answer may come much later. */
const LIMIT_MS = 3000

/** Asks what every request needs: the database, and the folder of the repositories. */
export async function checkHealth(context: Context) {
  const [database, repositories] = await Promise.all([
    probe(context, 'the database does not answer', () => context.sql`select 1`),
    probe(context, 'the folder of the repositories cannot be written', () =>
      access(context.config.repositoriesDir, constants.R_OK | constants.W_OK),
    ),
  ])
  const isWell = database.status === 'pass' && repositories.status === 'pass'
  const status: HealthCheck['status'] = isWell ? 'pass' : 'fail'
  return {
    status,
    description: 'Hearth',
    checks: { 'database:ping': [database], 'repositories:access': [repositories] },
  }
}

async function probe({ clock, log }: Context, failure: string, ask: () => PromiseLike<unknown>): Promise<HealthCheck> {
  const time = wireTime(clock.now())
  try {
    if (!(await within(LIMIT_MS, ask()))) throw new Error(`no answer in ${LIMIT_MS} ms`)
    return { status: 'pass', time, output: '' }
  } catch (err) {
    log.warn({ err }, failure)
    return { status: 'fail', time, output: failure }
  }
}
