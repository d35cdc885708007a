import type { Context } from '../../context.ts'

/** Lets so many pieces of work run at once; others wait in the order they came. */
class Turns {
  readonly #max: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(max: number) {
    this.#max = max
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#max) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#running += 1
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#running -= 1
    }
  }
}

const byPool = new WeakMap<object, Turns>()

/**
 * The turns of those who hold a connection while files are written: at most half of the pool, so that reading goes on while many
 * repositories are made at once.
 */
export function turnsOf({ sql, config }: Context): Turns {
  const known = byPool.get(sql)
  if (known) return known
  const turns = new Turns(Math.max(1, Math.floor(config.databasePoolSize / 2)))
  byPool.set(sql, turns)
  return turns
}
