import { Mutex } from 'async-mutex'

/** Runs work that names the same key one after the other, in the order of arrival; other keys do not wait. */
export interface KeyedMutex<Key> {
  run<Result>(key: Key, work: () => Promise<Result>): Promise<Result>
}

export function createKeyedMutex<Key>(): KeyedMutex<Key> {
  const mutexes = new Map<Key, Mutex>()
  return {
    async run(key, work) {
      const mutex = mutexes.get(key) ?? new Mutex()
      mutexes.set(key, mutex)
      try {
        return await mutex.runExclusive(work)
      } finally {
        // Whoever waits for it holds it by now.
        if (!mutex.isLocked()) mutexes.delete(key)
      }
    },
  }
}
