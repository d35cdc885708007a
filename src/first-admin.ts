import { sql } from 'drizzle-orm'
import { FIRST_START_LOCK } from '../db/locks.ts'
import { users } from '../db/schema/users.ts'
import { passwordProblem } from './auth/password-rules.ts'
import { type Config, ConfigError } from './config.ts'
import type { Context } from './context.ts'
import { createUser } from './features/users/create.ts'
import { Refusal } from './kernel/errors.ts'
import { randomHex } from './kernel/hashing.ts'

export interface FirstAdministrator {
  username: string
  /** Only when it was generated: to be shown once. */
  password?: string
}

const badPassword = (problem: string, { passwordMinLength }: Config): ConfigError =>
  new ConfigError(
    `ADMIN_PASSWORD is ${problem}`,
    `set it to ${passwordMinLength} characters or more that nobody guesses, or leave it out: then one is made and shown`,
  )

/**
 * Creates the first administrator on a database without people; undefined when there are some.
 * @throws ConfigError when the variables name an account that cannot be made
 */
export async function createFirstAdministrator(context: Context): Promise<FirstAdministrator | undefined> {
  const { adminUsername: name, adminEmail: email, adminPassword, passwordMinLength } = context.config
  const password = adminPassword ?? randomHex(Math.max(12, Math.ceil(passwordMinLength / 2)))
  try {
    return await context.db.transaction(async (tx) => {
      await tx.execute(sql`select pg_advisory_xact_lock(${FIRST_START_LOCK})`)
      const [anybody] = await tx.select({ id: users.id }).from(users).limit(1)
      if (anybody !== undefined) return undefined
      const problem = passwordProblem(context.config, password)
      if (problem !== undefined) throw badPassword(problem, context.config)
      await createUser(context, { name, email, password, isAdmin: true }, tx)
      return { username: name, ...(adminPassword === undefined ? { password } : {}) }
    })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new ConfigError(
      `the first administrator cannot be made from ADMIN_USERNAME and ADMIN_EMAIL: ${error.message}`,
      'set these to another name and address',
    )
  }
}
