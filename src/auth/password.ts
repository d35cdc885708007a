import { unavailable } from '../kernel/errors.ts'
import { createHashThreads } from './hash-threads.ts'

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
}

export interface PasswordLimits {
  /** Hashes at once. Each needs 19 MiB, and all of them together a core each. */
  parallelism: number
  /** Hashes that wait; past it a request is refused with 503. */
  queueLength: number
}

/** Hashing runs in threads that yield to all others, off the event loop, and never more of it than the limits allow. */
export function createPasswords(limits: PasswordLimits, cost = FULL_COST): Passwords {
  const limited = createLimiter(limits)
  const run = createHashThreads()
  // 2 is argon2id.
  const options = { ...cost, algorithm: 2, parallelism: 1 }
  // How a hash with these options begins (PHC string format).
  const prefix = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=1$`
  const hash = async (password: string) => String(await run({ password, options }))
  let dummyHash: Promise<string> | undefined
  const dummy = () => {
    dummyHash ??= hash('no account has this password')
    return dummyHash
  }
  return {
    isOutdated: (passwordHash) => !passwordHash.startsWith(prefix),
    hash: (password) => limited(() => hash(password)),
    async verify(passwordHash, password) {
      if (Buffer.byteLength(password) > MAX_PASSWORD_BYTES) return false
      return limited(async () => {
        const task = { hash: passwordHash || (await dummy()), password }
        return (await run(task)) === true && !!passwordHash
      })
    },
  }
}

/** Runs as many at once as `parallelism`; so many more wait, in their order, as `queueLength`. */
function createLimiter({ parallelism, queueLength }: PasswordLimits) {
  const waiting: (() => void)[] = []
  let running = 0
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (running >= parallelism) {
      if (waiting.length >= queueLength) throw unavailable('too many sign-ins at once, try again')
      await new Promise<void>((admit) => waiting.push(admit))
    } else running++
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}
