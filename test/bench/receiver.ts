/** A target of hooks beside the bench, that notes when each event came. */
export interface Receiver {
  url: string
  count(): number
  /** When the event about the issue of this title arrives, by `performance.now()`. */
  expect(title: string): Promise<number>
  /** When so many deliveries have arrived since the beginning. */
  reached(count: number): Promise<number>
  close(): void
}

export function openReceiver({ answerAfterMs = 0 } = {}): Receiver {
  const awaited = new Map<string, (at: number) => void>()
  let seen = 0
  let goal: { count: number; reach(at: number): void } | undefined
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    async fetch(request) {
      const body = await request.text()
      const at = performance.now()
      seen += 1
      if (goal !== undefined && seen >= goal.count) goal.reach(at)
      // Reading all of a payload as JSON would cost the machine that is measured.
      const title = /"title": "([^"]*)"/.exec(body)?.[1] ?? ''
      awaited.get(title)?.(at)
      awaited.delete(title)
      if (answerAfterMs > 0) await Bun.sleep(answerAfterMs)
      return new Response('ok')
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    count: () => seen,
    expect(title) {
      const { promise, resolve } = Promise.withResolvers<number>()
      awaited.set(title, resolve)
      return promise
    },
    reached(count) {
      const { promise, resolve } = Promise.withResolvers<number>()
      if (seen >= count) resolve(performance.now())
      goal = { count, reach: resolve }
      return promise
    },
    close: () => void server.stop(true),
  }
}
