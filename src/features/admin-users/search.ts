import { and, asc, type Column, desc, eq, type SQL, sql } from 'drizzle-orm'
import { escapeLike } from '../../../db/like.ts'
import { twoFactors } from '../../../db/schema/credentials.ts'
import { type UserRow, users, visibilities } from '../../../db/schema/users.ts'
import type { Context } from '../../context.ts'
import { invalid } from '../../kernel/errors.ts'
import type { Page, Paged } from '../../kernel/page.ts'
import type { UserSearchQuery } from './schema.ts'

const columns = new Map<string, Column>([
  ['name', users.lowerName],
  ['created', users.createdAt],
  ['updated', users.updatedAt],
  ['id', users.id],
])

/** All people, whatever their state. @throws Refusal 422 for an unknown sort, order or visibility */
export async function searchAllUsers({ db }: Context, query: UserSearchQuery, page: Page): Promise<Paged<UserRow>> {
  const wanted = filter(query)
  const sorted = db
    .select()
    .from(users)
    .where(wanted)
    .orderBy(...sorting(query))
  const [rows, total] = await Promise.all([sorted.limit(page.limit).offset(page.offset), db.$count(users, wanted)])
  return { rows, total }
}

/** Wire: without a sort the order is by name, and `order` alone is ignored. */
function sorting({ sort, order }: UserSearchQuery): SQL[] {
  if (sort === undefined) return [asc(users.lowerName)]
  const column = columns.get(sort)
  if (column === undefined) throw invalid(`Invalid sort mode: ${JSON.stringify(sort)}`)
  if (order === undefined || order === 'asc') return [asc(column), asc(users.id)]
  // Both the same way round, as the indexes are read.
  if (order === 'desc') return [desc(column), desc(users.id)]
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
    given(query.source_id, (id) => eq(users.sourceId, id)),
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
