import { and, eq, type SQL, sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import { issueLabels, issues, labels, milestones } from '../../../db/schema/issues.ts'
import { teams } from '../../../db/schema/organizations.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import { maySeeOwner } from '../../access/decide.ts'
import { findAccount } from '../../access/load-account.ts'
import { reachedByTeam } from '../../access/reach.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../kernel/errors.ts'
import { assignedTo, type CommonQuery, commonConditions, getPerson } from '../issues/filter.ts'
import type { IssueFilter } from '../issues/list.ts'
import { mentioning, searchText } from '../issues/text.ts'
import { knownLabels, knownMilestones } from './known-names.ts'

/** What a search over repositories is asked for. */
export interface SearchQuery extends CommonQuery {
  /** Names; an issue carries any of them. */
  labels: readonly string[]
  /** Titles; any of them. */
  milestones: readonly string[]
  /** The name of a person or an organization. */
  owner?: string
  /** The name of one of its teams. */
  team?: string
  /** The name of a person. */
  createdBy?: string
  /** What the reader has to do with the issue: all of it must hold. */
  own: readonly OwnPart[]
}

export const ownParts = ['created', 'assigned', 'mentioned', 'review_requested', 'reviewed'] as const
export type OwnPart = (typeof ownParts)[number]

/**
 * What a search means, as a condition over `issues` joined with `repositories`. Which of them the reader may see is not in it.
 * @throws Refusal 400 for an owner or a team that is unknown, 404 for a person
 */
export async function searchFilter(
  context: Context,
  actor: Actor | undefined,
  query: SearchQuery,
): Promise<IssueFilter> {
  const owner = query.owner === undefined ? undefined : await getOwner(context, actor, query.owner)
  const teamId = query.team === undefined ? undefined : await getTeamId(context, owner, query.team)
  const poster = query.createdBy === undefined ? undefined : await getPerson(context, actor, query.createdBy)
  const search = query.text === undefined ? undefined : searchText(query.text)
  const condition = and(
    commonConditions(query),
    query.isPull === undefined ? undefined : eq(issues.isPull, query.isPull),
    search?.condition,
    owner && eq(repositories.ownerId, owner.id),
    teamId === undefined ? undefined : sql`${issues.repositoryId} in (${reachedByTeam(teamId)})`,
    poster && eq(issues.posterId, poster.id),
    // Wire: nothing is a visitor's own, and so the question is not asked.
    ...(actor ? query.own.map((part) => isOwn(part, actor)) : []),
    labelled(await knownLabels(context, actor, query.labels)),
    planned(await knownMilestones(context, actor, query.milestones)),
  )
  return { condition, rank: search?.rank }
}

function isOwn(part: OwnPart, { user }: Actor): SQL {
  switch (part) {
    case 'created':
      return eq(issues.posterId, user.id)
    case 'assigned':
      return assignedTo(user.id)
    case 'mentioned':
      return mentioning(user.name)
    case 'review_requested':
    case 'reviewed':
      // There are no reviews yet, so nobody has written one or was asked for one.
      return sql`false`
  }
}

/** Wire: 400, where a person who is not there is 404. */
async function getOwner({ db, config }: Context, actor: Actor | undefined, name: string): Promise<UserRow> {
  const account = await findAccount(db, name, actor?.user.id)
  if (!account || !maySeeOwner(config, actor, account.row, account.isRelated))
    throw badRequest(`user does not exist [name: ${name}]`)
  return account.row
}

/** Wire: outsiders may ask for a team too; they find what they see of its repositories. */
async function getTeamId({ db }: Context, owner: UserRow | undefined, name: string): Promise<number> {
  if (!owner) throw badRequest('owner organisation is required for filtering on team')
  const [team] = await db
    .select({ id: teams.id })
    .from(teams)
    .where(and(eq(teams.organizationId, owner.id), eq(teams.lowerName, name.toLowerCase())))
  if (!team) throw badRequest(`team does not exist [name: ${name}]`)
  return team.id
}

function labelled(names: readonly string[]): SQL | undefined {
  if (names.length === 0) return undefined
  return sql`${issues.id} in (
    select ${issueLabels.issueId} from ${issueLabels} join ${labels} on ${labels.id} = ${issueLabels.labelId}
    where ${anyOf(labels.name, names)})`
}

function planned(titles: readonly string[]): SQL | undefined {
  if (titles.length === 0) return undefined
  return sql`${issues.milestoneId} in (select ${milestones.id} from ${milestones} where ${anyOf(milestones.title, titles)})`
}
