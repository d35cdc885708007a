import { type SQL, sql } from 'drizzle-orm'
import { arrayOf } from '../../../db/any-of.ts'
import { labels, milestones } from '../../../db/schema/issues.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import { visibleAccounts } from '../../access/visible-accounts.ts'
import { visibleSubject } from '../../access/visible-subject.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'

/*
 * Wire: names of labels and milestones that do not exist are ignored. Those that the reader may not know of are ignored as well: a filter by
 * them would find nothing, and so tell that they exist.
 */

/** Those of the names that a label of a repository or an organization has that the reader may see. */
export function knownLabels(context: Context, actor: Actor | undefined, names: readonly string[]): Promise<string[]> {
  const ofRepository = sql`
    select 1 from ${labels} join ${repositories} on ${repositories.id} = ${labels.repositoryId}
    join ${users} on ${users.id} = ${repositories.ownerId}
    where ${labels.name} = wanted.name and ${readsEither(context, actor)}`
  const ofOrganization = sql`
    select 1 from ${labels} join ${users} on ${users.id} = ${labels.organizationId}
    where ${labels.name} = wanted.name and ${visibleAccounts(context.config, actor)}`
  return known(context, names, sql`exists (${ofRepository}) or exists (${ofOrganization})`)
}

/** The same of milestones. */
export function knownMilestones(
  context: Context,
  actor: Actor | undefined,
  names: readonly string[],
): Promise<string[]> {
  const found = sql`
    select 1 from ${milestones} join ${repositories} on ${repositories.id} = ${milestones.repositoryId}
    join ${users} on ${users.id} = ${repositories.ownerId}
    where ${milestones.title} = wanted.name and ${readsEither(context, actor)}`
  return known(context, names, sql`exists (${found})`)
}

/** Labels and milestones belong to issues as well as to pull requests: who reads either knows them. */
const readsEither = ({ config }: Context, actor: Actor | undefined): SQL =>
  sql`(${visibleSubject(config, actor, sql`false`)} or ${visibleSubject(config, actor, sql`true`)})`

async function known({ db }: Context, names: readonly string[], isKnown: SQL): Promise<string[]> {
  if (names.length === 0) return []
  const rows = await db.execute<{ name: string }>(
    sql`select wanted.name from unnest(${arrayOf(names)}::text[]) as wanted (name) where ${isKnown}`,
  )
  return rows.map(({ name }) => name)
}
