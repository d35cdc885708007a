import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import type { SessionRow } from '../../../db/schema/sessions.ts'
import { type NewUser, type UserRow, users } from '../../../db/schema/users.ts'
import { type AuditSource, recordAudit } from '../../audit/record.ts'
import { endSessions } from '../../auth/sessions.ts'
import { invalid } from '../../kernel/errors.ts'
import { isWebsite } from '../../kernel/website.ts'
import { removeResetsOf } from '../password-recovery/store.ts'

export type UserChange = Partial<Omit<NewUser, 'id' | 'kind' | 'createdAt' | 'updatedAt'>>

/**
 * Changes a person or an organization and records what was changed. A field that is undefined stays. After another password or source, a
 * closed account or other rights of the site, sessions end but for the one that the person makes the change with.
 */
export async function editUser(tx: Db, user: UserRow, change: UserChange, by: AuditSource): Promise<UserRow> {
  const [row] = await tx
    .update(users)
    .set({ ...change, updatedAt: sql`now()` })
    .where(eq(users.id, user.id))
    .returning()
  if (row === undefined) throw new Error('the account is gone')
  if (change.passwordHash !== undefined) await removeResetsOf(tx, user.id)
  if (endsSessions(user, change)) await endSessions(tx, user.id, sessionOf(by, user))
  const subject = { kind: user.kind, id: user.id, name: user.name }
  await recordAudit(tx, by, { action: `${user.kind}.edit`, subject, before: user, after: change })
  return row
}

const endsSessions = (user: UserRow, change: UserChange): boolean =>
  change.passwordHash !== undefined ||
  (change.sourceId !== undefined && change.sourceId !== user.sourceId) ||
  change.isActive === false ||
  change.prohibitLogin === true ||
  (change.isAdmin !== undefined && change.isAdmin !== user.isAdmin)

const sessionOf = (by: AuditSource, { id }: UserRow): SessionRow | undefined =>
  typeof by === 'object' && by.user.id === id ? by.session : undefined

/** @throws Refusal 422 for an address that is none or that a browser would not open as a page */
export function requireWebsite(text: string | undefined): void {
  if (text !== undefined && !isWebsite(text)) throw invalid('Url', 'website')
}
