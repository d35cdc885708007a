import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { afterPosition, inOrder, positionText, type SortKey } from '../../../db/keyset.ts'
import { escapeLike } from '../../../db/like.ts'
import { twoFactors } from '../../../db/schema/credentials.ts'
import { type UserRow, users, visibilities } from '../../../db/schema/users.ts'
import type { Context } from '../../context.ts'
import { invalid } from '../../kernel/errors.ts'
import { cutPage, type Page, type Paged, rowsToRead, rowsToSkip } from '../../kernel/page.ts'
import type { UserSearchQuery } from './schema.ts'

const byName: SortKey = { key: users.lowerName, type: 'text' }
const byId: SortKey = { key: users.id, type: 'bigint' }
const sorts = new Map<string, SortKey>([
  ['name', byName],
  ['created', { key: users.createdAt, type: 'timestamptz' }],
  ['updated', { key: users.updatedAt, type: 'timestamptz' }],
  ['id', byId],
])

/** All people, whatever their state. @throws Refusal 422 for an unknown sort, order or visibility */
export async function searchAllUsers({ db }: Context, query: UserSearchQuery, page: Page): Promise<Paged<UserRow>> {
  const wanted = filter(query)
  const keys = sorting(query)
  const sorted = db
    .select({ user: users, sortedBy: positionText(keys[0]) })
    .from(users)
    .where(and(wanted, afterPosition(keys, page.after)))
    .orderBy(inOrder(keys))
    .limit(rowsToRead(page))
    .offset(rowsToSkip(page))
  const [rows, total] = await Promise.all([sorted, db.$count(users, wanted)])
  const found = cutPage(page, { rows, total }, ({ user, sortedBy }) =>
    [String(sortedBy), String(user.id)].slice(0, keys.length),
  )
  return { ...found, rows: found.rows.map(({ user }) => user) }
}

/** Wire: without a sort the order is by name, and `order` alone is ignored. */
function sorting({ sort, order }: UserSearchQuery): [SortKey, ...SortKey[]] {
  // A name is nobody else's, so that it is an order by itself.
  if (sort === undefined) return [byName]
  const key = sorts.get(sort)
  if (key === undefined) throw invalid(`Invalid sort mode: ${JSON.stringify(sort)}`)
  if (order === undefined || order === 'asc') return [key, byId]
  // Both the same way round, as the indexes are read.
  if (order === 'desc')
    return [
      { ...key, isDescending: true },
      { ...byId, isDescending: true },
    ]
  throw invalid(`Invalid sort order: ${JSON.stringify(order)}`)
}

function filter(query: UserSearchQuery): SQL | undefined {
  const visibility = visibilities.find((word) => word === query.visibility)
  if (query.visibility !== undefined && visibility === undefined)
    throw invalid(`Invalid visibility: ${JSON.stringify(query.visibility)}`)
  const has2fa = sql`exists (select 1 from ${twoFactors}
    where ${twoFactors.userId} = ${users.id} and ${twoFactors.confirmedAt} is not null)`
  const given = <Value>(value: Value | undefined, condition: (value: Value) => SQL) =>
    value === undefined ? undefined : condition(value)
  return and(
    eq(users.kind, 'user'),
    given(query.q, matchesText),
    given(query.login_name, (name) => eq(users.loginName, name)),
    given(query.source_id, (id) => (id === 0 ? isNull(users.sourceId) : eq(users.sourceId, id))),
    given(visibility, (word) => eq(users.visibility, word)),
    given(query.is_active, (is) => eq(users.isActive, is)),
    given(query.is_admin, (is) => eq(users.isAdmin, is)),
    given(query.is_restricted, (is) => eq(users.isRestricted, is)),
    given(query.is_prohibit_login, (is) => eq(users.prohibitLogin, is)),
    given(query.is_2fa_enabled, (is) => sql`${has2fa} = ${is}`),
  )
}

/** The first condition is what the index holds; the second leaves out hits across the fields. */
function matchesText(text: string): SQL {
  const pattern = `%${escapeLike(text.toLowerCase())}%`
  return sql`(lower(${users.name} || ' ' || ${users.fullName} || ' ' || ${users.email}) like ${pattern}
    and (${users.lowerName} like ${pattern} or lower(${users.fullName}) like ${pattern} or lower(${users.email}) like ${pattern}))`
}
