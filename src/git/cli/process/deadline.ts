import { GitError } from '../../errors.ts'
import type { Call } from '../../model.ts'

export interface Deadline {
  /** Aborts with a GitError, `timeout` or `aborted`. */
  signal: AbortSignal
  /** Ends the timer and lets go of the caller's signal. */
  clear(): void
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
