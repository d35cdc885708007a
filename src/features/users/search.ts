import { and, eq, type SQL, sql } from 'drizzle-orm'
import { afterPosition, inOrder, type SortKey } from '../../../db/keyset.ts'
import { escapeLike } from '../../../db/like.ts'
import { type UserRow, users } from '../../../db/schema/users.ts'
import { findableAccounts } from '../../access/visible-accounts.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { cutPage, type Page, type Paged, rowsToRead, rowsToSkip } from '../../kernel/page.ts'

const byName: SortKey[] = [{ key: users.lowerName, type: 'text' }]

/** People whom the caller may find, by name. */
export async function searchUsers(
  { db, config }: Context,
  actor: Actor | undefined,
  { text, id, page }: { text: string | undefined; id: number | undefined; page: Page },
): Promise<Paged<UserRow>> {
  const wanted = and(
    eq(users.kind, 'user'),
    id === undefined ? undefined : eq(users.id, id),
    text === undefined ? undefined : matchesText(text, actor),
    findableAccounts(config, actor),
  )
  const found = db
    .select()
    .from(users)
    .where(and(wanted, afterPosition(byName, page.after)))
    .orderBy(inOrder(byName))
    .limit(rowsToRead(page))
    .offset(rowsToSkip(page))
  const [rows, total] = await Promise.all([found, db.$count(users, wanted)])
  return cutPage(page, { rows, total }, ({ lowerName }) => [lowerName])
}

/**
 * The first condition is what the index holds; the rest leaves out hits in an address that the caller is not shown, and hits
 * across the fields.
 */
function matchesText(text: string, actor: Actor | undefined): SQL {
  const pattern = `%${escapeLike(text.toLowerCase())}%`
  const anyField = sql`lower(${users.name} || ' ' || ${users.fullName} || ' ' || ${users.email}) like ${pattern}`
  const shown = actor?.user.isAdmin
    ? sql`true`
    : actor
      ? sql`(not ${users.keepEmailPrivate} or ${users.id} = ${actor.user.id})`
      : sql`false`
  return sql`(${anyField} and (${users.lowerName} like ${pattern} or lower(${users.fullName}) like ${pattern}
    or (${shown} and lower(${users.email}) like ${pattern})))`
}
