import { locateProgram } from '../threads/programs.ts'
import type { HashAnswer, HashTask } from './hash-worker.ts'

/** Runs a task in a thread; rejects with the failure of the task or of the thread. */
export type RunHash = (task: HashTask) => Promise<string | boolean>

interface Thread {
  run: RunHash
  isIdle: boolean
}

/**
 * Hashes in threads of low priority. There are as many as there are tasks at once, so the caller has to limit these. A thread starts when
 * it is needed, and stays. Threads do not keep the process alive.
 */
export function createHashThreads(): RunHash {
  const threads = new Set<Thread>()
  return async (task) => {
    const thread = idleOf(threads) ?? startThread(() => threads.delete(thread))
    threads.add(thread)
    thread.isIdle = false
    try {
      return await thread.run(task)
    } finally {
      thread.isIdle = true
    }
  }
}

const idleOf = (threads: Set<Thread>): Thread | undefined => [...threads].find(({ isIdle }) => isIdle)

/** @param gone it has failed as a whole and will never answer */
function startThread(gone: () => void): Thread {
  const worker = new Worker(locateProgram('auth/hash-worker.ts'), { ref: false, smol: true })
  let reply = Promise.withResolvers<string | boolean>()
  worker.onmessage = ({ data }: MessageEvent<HashAnswer>) => {
    if ('error' in data) reply.reject(new Error(data.error))
    else reply.resolve(data.value)
  }
  worker.onerror = ({ message }) => {
    gone()
    worker.terminate()
    reply.reject(new Error(`a hashing thread failed: ${message}`))
  }
  return {
    isIdle: true,
    run(task) {
      reply = Promise.withResolvers()
      worker.postMessage(task)
      return reply.promise
    },
  }
}
