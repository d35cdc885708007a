/** What sends the requests: the global `fetch`, or what takes its place. */
export type Fetcher = (address: string, init?: RequestInit) => Promise<Response>

export interface RetryRule {
  retries: number
  /** In seconds. A longer `Retry-After` is not waited for. */
  longestWait: number
}

/** Doing these twice is the same as doing them once (RFC 9110, 9.2.2). */
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'])

/**
 * Asks again where the service says when: after 429, which means that nothing was done, and after 503 where doing it twice does no harm.
 * The last answer is given back, whatever it is.
 */
export function retrying(send: Fetcher, { retries, longestWait }: RetryRule): Fetcher {
  return async (address, init = {}) => {
    for (let left = retries; ; left -= 1) {
      const answer = await send(address, init)
      const seconds = left > 0 && mayRepeat(answer.status, init.method) ? waitOf(answer) : undefined
      if (seconds === undefined || seconds > longestWait) return answer
      await answer.body?.cancel()
      await wait(seconds * 1000, init.signal)
    }
  }
}

const mayRepeat = (status: number, method = 'GET'): boolean =>
  status === 429 || (status === 503 && IDEMPOTENT.has(method.toUpperCase()))

/** Seconds, or a time (RFC 9110, 10.2.3). Undefined where the answer says nothing. */
function waitOf(answer: Response): number | undefined {
  const text = answer.headers.get('retry-after') ?? ''
  if (/^\d+$/.test(text)) return Number(text)
  // By the clock of whoever answered: ours may be wrong.
  const seconds = (Date.parse(text) - Date.parse(answer.headers.get('date') ?? '')) / 1000
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}

/** Ends early with the reason of the signal, when that fires. */
const wait = (milliseconds: number, signal: AbortSignal | null | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, milliseconds)
    signal?.addEventListener('abort', stop, { once: true })
  })
