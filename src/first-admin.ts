import { sql } from 'drizzle-orm'
import { FIRST_START_LOCK } from '../db/locks.ts'
import { users } from '../db/schema/users.ts'
import { ConfigError } from './config.ts'
import type { Context } from './context.ts'
import { createUser } from './features/users/create.ts'
import { Refusal } from './kernel/errors.ts'
import { randomHex } from './kernel/hashing.ts'

export interface FirstAdministrator {
  username: string
  /** Only when it was generated: to be shown once. */
  password?: string
}

/**
 * Creates the first administrator on a database without people; undefined when there are some.
 * @throws ConfigError when the variables name an account that cannot be made
 */
export async function createFirstAdministrator(context: Context): Promise<FirstAdministrator | undefined> {
  const { adminUsername: name, adminEmail: email, adminPassword } = context.config
  const password = adminPassword ?? randomHex(12)
  try {
    return await context.db.transaction(async (tx) => {
      await tx.execute(sql`select pg_advisory_xact_lock(${FIRST_START_LOCK})`)
      const [anybody] = await tx.select({ id: users.id }).from(users).limit(1)
      if (anybody !== undefined) return undefined
      await createUser(context, { name, email, password, isAdmin: true }, tx)
      return { username: name, ...(adminPassword === undefined ? { password } : {}) }
    })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new ConfigError(
      `the first administrator cannot be made from ADMIN_USERNAME, ADMIN_EMAIL and ADMIN_PASSWORD: ${error.message}`,
    )
  }
}
