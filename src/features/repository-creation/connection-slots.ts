import limit, { type LimitFunction } from 'p-limit'
import type { Context } from '../../context.ts'

/** By the pool of connections of a service: tests start several in one process. */
const byPool = new WeakMap<object, LimitFunction>()

/**
 * Runs work that holds a connection while files are written: at most half of the pool at once, so that reading goes on while many
 * repositories are made.
 */
export function connectionSlots({ sql, config }: Context): LimitFunction {
  const slots = byPool.get(sql) ?? limit(Math.max(1, Math.floor(config.databasePoolSize / 2)))
  byPool.set(sql, slots)
  return slots
}
