import { unavailable } from '../kernel/errors.ts'
import { createThreadPool, ThreadsBusy, ThreadTimeout } from '../threads/pool.ts'
import { locateProgram } from '../threads/programs.ts'
import type { HashTask } from './hash-worker.ts'

/** What one argon2id hash costs. */
export interface HashCost {
  /** In KiB. */
  memoryCost: number
  /** Passes over the memory. */
  timeCost: number
}

/** 19 MiB, two passes, one lane: the first choice of OWASP's password storage sheet. 11-21 ms here. */
export const FULL_COST: HashCost = { memoryCost: 19_456, timeCost: 2 }

/** A longer password is wrong, whoever it is for, and is never hashed. */
export const MAX_PASSWORD_BYTES = 1024

export interface Passwords {
  hash(password: string): Promise<string>
  /** Takes the same time, and answers false, with no hash to compare with (unknown account). */
  verify(passwordHash: string | undefined, password: string): Promise<boolean>
  /** Whether a hash was made with other parameters than new ones are. */
  isOutdated(passwordHash: string): boolean
  /** Ends the threads. */
  stop(): void
}

export interface PasswordLimits {
  /** Hashes at once. Each needs 19 MiB, and all of them together a core each. */
  parallelism: number
  /** Hashes that wait; past it a request is refused with 503. */
  queueLength: number
}

/** Threads yield to all others, so a busy machine may keep a hash waiting for long. Who waited longer has gone away. */
const LONGEST_MS = 60_000

/** Hashing runs in threads, off the event loop, and never more of it than the limits allow. */
export function createPasswords({ parallelism, queueLength }: PasswordLimits, cost = FULL_COST): Passwords {
  const pool = createThreadPool<HashTask, string | boolean>({
    program: locateProgram('auth/hash-worker.ts'),
    threads: parallelism,
    deadlineMs: LONGEST_MS,
    maxWaiting: queueLength,
    maxWaitMs: LONGEST_MS,
  })
  const run = async (task: HashTask): Promise<string | boolean> => {
    try {
      return await pool.run(task)
    } catch (error) {
      if (!(error instanceof ThreadsBusy || error instanceof ThreadTimeout)) throw error
      throw unavailable('too many sign-ins at once, try again')
    }
  }
  // 2 is argon2id.
  const options = { ...cost, algorithm: 2, parallelism: 1 }
  // How a hash with these options begins (PHC string format).
  const prefix = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=1$`
  // Salt and hash of no password that anybody could find: comparing with it takes as long as with any other.
  const nobody = `${prefix}${'A'.repeat(22)}$${'A'.repeat(43)}`
  return {
    isOutdated: (passwordHash) => !passwordHash.startsWith(prefix),
    hash: async (password) => String(await run({ password, options })),
    async verify(passwordHash, password) {
      if (Buffer.byteLength(password) > MAX_PASSWORD_BYTES) return false
      return (await run({ hash: passwordHash || nobody, password })) === true && !!passwordHash
    },
    stop: () => pool.stop(),
  }
}
