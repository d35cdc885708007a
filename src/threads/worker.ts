/** What a thread sends to its pool: once that it has started, then one message for each task. */
export type Answer<Result> = { kind: 'ready' } | { kind: 'done'; result: Result } | { kind: 'failed'; message: string }

/**
 * The program of a thread: it does one task at a time and answers each with one message. Tasks and results are copied, so they
 * must be plain data. Does nothing in the main thread.
 */
export function serveTasks<Task, Result>(run: (task: Task) => Result | Promise<Result>): void {
  if (Bun.isMainThread) return
  const answer = (message: Answer<Result>) => postMessage(message)
  addEventListener('message', async ({ data }: MessageEvent<Task>) => {
    try {
      answer({ kind: 'done', result: await run(data) })
    } catch (error) {
      answer({ kind: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    }
  })
  answer({ kind: 'ready' })
}
