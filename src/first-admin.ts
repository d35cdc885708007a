import { sql } from 'drizzle-orm'
import { emails, users } from '../db/schema/users.ts'
import type { Context } from './context.ts'
import { randomHex } from './kernel/hashing.ts'

/** Any number will do, as long as it is ours alone: two replicas may start on one empty database. */
const FIRST_START_LOCK = 5_190_331

export interface FirstAdministrator {
  username: string
  /** Only when it was generated: to be shown once. */
  password?: string
}

/** Creates the first administrator on a database without people; undefined when there are some. */
export async function createFirstAdministrator(context: Context): Promise<FirstAdministrator | undefined> {
  const { adminUsername: username, adminEmail: email, adminPassword } = context.config
  return context.db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${FIRST_START_LOCK})`)
    const [anybody] = await tx.select({ id: users.id }).from(users).limit(1)
    if (anybody !== undefined) return undefined
    const password = adminPassword ?? randomHex(12)
    const passwordHash = await context.passwords.hash(password)
    const [row] = await tx
      .insert(users)
      .values({ name: username, email, loginName: '', isAdmin: true, passwordHash })
      .returning({ id: users.id })
    if (row !== undefined) await tx.insert(emails).values({ userId: row.id, email, isPrimary: true, isActivated: true })
    return { username, ...(adminPassword === undefined ? { password } : {}) }
  })
}
