import { connect } from '../../db/connect.ts'
import { errorCode, messageOf } from '../kernel/thrown.ts'
import type { Log } from '../log.ts'

const WAIT_MS = 60_000
const EACH_MS = 500
const CONNECT_SECONDS = 5

/** Its host is not there yet, does not answer, or is starting or stopping. A wrong password or name is another matter. */
const AWAY =
  /^(ECONNREFUSED|ECONNRESET|ENOENT|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|CONNECT_TIMEOUT|CONNECTION_CLOSED|57P0[123])$/

interface Waiting {
  url: string
  log: Log
  /** Ends the wait early. */
  signal: AbortSignal
  waitMs?: number
}

/**
 * Waits for a database that is away, as where a machine starts it and us together.
 * @throws what was wrong at last, once a minute is over; at once where waiting does not help
 */
export async function waitForDatabase({ url, log, signal, waitMs = WAIT_MS }: Waiting): Promise<void> {
  const deadline = performance.now() + waitMs
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    try {
      return await ask(url)
    } catch (error) {
      const reason = errorCode(error)
      if (!AWAY.test(reason ?? '') || performance.now() > deadline) throw error
      if (isFirst)
        log.warn(
          { reason: messageOf(error) || reason },
          `the database does not answer; waiting for it, at most ${waitMs / 1000} s`,
        )
      await Bun.sleep(EACH_MS)
    }
  }
}

async function ask(url: string): Promise<void> {
  const sql = connect(url, { max: 1, connect_timeout: CONNECT_SECONDS, onnotice: () => undefined })
  try {
    await sql`select 1`
  } finally {
    await sql.end({ timeout: 1 })
  }
}
