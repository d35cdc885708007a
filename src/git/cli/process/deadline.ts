import { GitError } from '../../errors.ts'
import type { Call } from '../../model.ts'

export interface Deadline {
  /** Aborts with a GitError, `timeout` or `aborted`. */
  signal: AbortSignal
  /** Ends the timer and lets go of the caller's signal. */
  clear(): void
}

/** Ends a read of a client's body that waits when the time is over. @returns takes this back, once the body is read */
export function cancelAtDeadline(reader: ReadableStreamDefaultReader<Uint8Array>, { signal }: Deadline): () => void {
  // The body may have failed; whoever reads it learns that from the read.
  const cancel = () => void reader.cancel(signal.reason).catch(() => undefined)
  signal.addEventListener('abort', cancel, { once: true })
  if (signal.aborted) cancel()
  return () => signal.removeEventListener('abort', cancel)
}

/** Joins the caller's signal and a time limit, so that the rest of the engine watches one signal. */
export function startDeadline(call: Call | undefined, defaultMs: number): Deadline {
  const controller = new AbortController()
  const timeoutMs = call?.timeoutMs ?? defaultMs
  const timer = setTimeout(() => {
    controller.abort(new GitError('timeout', 'timeout', `git took longer than ${timeoutMs} ms`))
  }, timeoutMs)
  const abort = () => controller.abort(new GitError('aborted', 'aborted', 'the caller went away'))
  call?.signal?.addEventListener('abort', abort, { once: true })
  if (call?.signal?.aborted) abort()
  return {
    signal: controller.signal,
    clear() {
      clearTimeout(timer)
      call?.signal?.removeEventListener('abort', abort)
    },
  }
}
