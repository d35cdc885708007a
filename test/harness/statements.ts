import type { Context } from '../../src/context.ts'

/** What is asked of the database because time has passed, and not because of the request. */
const BACKGROUND = /cron_|\bjobs?\b|fanned_out_at|set "last_used_at"/

/** Records the texts of the statements that the service sends outside of transactions, in their order. */
export function recordStatements({ sql }: Pick<Context, 'sql'>) {
  const sent: string[] = []
  const unsafe = sql.unsafe
  const recording: typeof unsafe = (text, ...more) => {
    if (!BACKGROUND.test(text)) sent.push(text)
    return unsafe(text, ...more)
  }
  sql.unsafe = recording
  return {
    texts: (): string[] => [...sent],
    clear(): void {
      sent.length = 0
    },
    stop(): void {
      sql.unsafe = unsafe
    },
  }
}
