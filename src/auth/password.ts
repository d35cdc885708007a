import { unavailable } from '../kernel/errors.ts'
import { createHashThreads } from './hash-threads.ts'

/** argon2id (`algorithm: 2`) with 19 MiB, two passes, one lane: the first choice of OWASP's password storage sheet. 11-21 ms here. */
const PARAMETERS = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** How a hash with these parameters begins (PHC string format). */
const CURRENT_PREFIX = `$argon2id$v=19$m=${PARAMETERS.memoryCost},t=${PARAMETERS.timeCost},p=${PARAMETERS.parallelism}$`

/** Longer input is refused before hashing; nobody types more. */
export const MAX_PASSWORD_BYTES = 1024

export interface Passwords {
  hash(password: string): Promise<string>
  /** With no hash to compare with (unknown account) it takes the same time and answers false. */
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
export function createPasswords(limits: PasswordLimits): Passwords {
  const inTurn = createTurnstile(limits)
  const run = createHashThreads()
  const hash = async (password: string) => String(await run({ password, options: PARAMETERS }))
  let dummyHash: Promise<string> | undefined
  const dummy = () => {
    dummyHash ??= hash('no account has this password')
    return dummyHash
  }
  return {
    isOutdated: (passwordHash) => !passwordHash.startsWith(CURRENT_PREFIX),
    hash: (password) => inTurn(() => hash(password)),
    verify: (passwordHash, password) =>
      inTurn(async () => {
        const task = { hash: passwordHash || (await dummy()), password: password.slice(0, MAX_PASSWORD_BYTES) }
        return (await run(task)) === true && !!passwordHash && Buffer.byteLength(password) <= MAX_PASSWORD_BYTES
      }),
  }
}

function createTurnstile({ parallelism, queueLength }: PasswordLimits) {
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
