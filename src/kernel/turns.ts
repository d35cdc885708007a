/** Runs work that names the same key one after the other, in the order in which it came; other keys do not wait. */
export interface Turns<Key> {
  run<Result>(key: Key, work: () => Promise<Result>): Promise<Result>
}

export function createTurns<Key>(): Turns<Key> {
  const last = new Map<Key, Promise<unknown>>()
  return {
    async run(key, work) {
      const mine = (last.get(key) ?? Promise.resolve()).then(work, work)
      last.set(key, mine)
      try {
        return await mine
      } finally {
        if (last.get(key) === mine) last.delete(key)
      }
    },
  }
}
