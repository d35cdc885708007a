import { and, eq, or, type SQL, sql } from 'drizzle-orm'
import { arrayOf } from '../../../db/any-of.ts'
import { escapeLike } from '../../../db/like.ts'
import { organizationMembers } from '../../../db/schema/organizations.ts'
import { repositories, type repositoryTotals, stars, watches } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import { idsGivenTo, reachedByTeam } from '../../access/reach.ts'
import type { Actor } from '../../auth/actor.ts'

/** The sorts of repositories that are counted beforehand: see `repositoryTotals`. */
export interface RepositoryFlags {
  isPrivate?: boolean
  isTemplate?: boolean
  isArchived?: boolean
  isFork?: boolean
  isMirror?: boolean
}

/** Which repositories a list is about, among those that the reader may see. */
export interface RepositoryFilter extends RepositoryFlags {
  /** Words separated by commas, of which one must be in the name; `owner/name` looks at both. */
  text?: string
  /** Looks for `text` in the description too. */
  inDescription?: boolean
  /** `text` names topics, and nothing else is looked at. */
  inTopics?: boolean
  /** Topics that fit a word of `text`: who has one of them is meant too. */
  topicNames?: readonly string[]
  ownerId?: number
  /** Owned, or reached as a collaborator or by a team. */
  involvedId?: number
  /** Reached as a collaborator or by a team, but not owned. */
  contributorId?: number
  starredById?: number
  /** Who is notified of what happens there. */
  watchedById?: number
  teamId?: number
  /** Forks of this repository. */
  parentId?: number
}

/** Columns by the same names in `repositories` and in `repositoryTotals`. */
type Flagged = typeof repositories | typeof repositoryTotals

export function flagConditions(table: Flagged, flags: RepositoryFlags): SQL | undefined {
  const is = (column: SQL, wanted: boolean | undefined) =>
    wanted === undefined ? undefined : wanted ? column : sql`not ${column}`
  return and(
    is(sql`${table.isPrivate}`, flags.isPrivate),
    is(sql`${table.isTemplate}`, flags.isTemplate),
    is(sql`${table.isArchived}`, flags.isArchived),
    is(sql`${table.isFork}`, flags.isFork),
    is(sql`${table.isMirror}`, flags.isMirror),
  )
}

/** Whether the flags are all that a filter asks for. */
export function hasOnlyFlags(filter: RepositoryFilter): boolean {
  const { text, ownerId, involvedId, contributorId, starredById, watchedById, teamId, parentId } = filter
  return [text, ownerId, involvedId, contributorId, starredById, watchedById, teamId, parentId].every(
    (wanted) => wanted === undefined,
  )
}

/** The filter as a condition over `repositories` joined with its owner in `users`. Visibility is not in it. */
export function filterConditions(filter: RepositoryFilter, actor: Actor | undefined): SQL | undefined {
  const { ownerId, involvedId, contributorId, starredById, watchedById, teamId, parentId } = filter
  return and(
    flagConditions(repositories, filter),
    filter.text === undefined ? undefined : textCondition(filter.text, filter),
    ownerId === undefined ? undefined : eq(repositories.ownerId, ownerId),
    parentId === undefined ? undefined : eq(repositories.parentId, parentId),
    involvedId === undefined ? undefined : sql`${repositories.id} in (${idsGivenTo(involvedId)})`,
    contributorId === undefined
      ? undefined
      : sql`(${repositories.ownerId} <> ${contributorId}
      and ${repositories.id} in (${idsGivenTo(contributorId, { ways: ['collaborator', 'team'] })}))`,
    starredById === undefined
      ? undefined
      : sql`${repositories.id} in (
      select ${stars.repositoryId} from ${stars} where ${stars.userId} = ${starredById})`,
    watchedById === undefined
      ? undefined
      : sql`${repositories.id} in (
          select ${watches.repositoryId} from ${watches} where ${watches.userId} = ${watchedById} and ${watches.isSubscribed})`,
    teamId === undefined ? undefined : ofTeam(teamId, actor),
  )
}

/** What a team reaches is for members of its organization to know. */
function ofTeam(teamId: number, actor: Actor | undefined): SQL {
  if (!actor) return sql`false`
  const isMember = actor.user.isAdmin
    ? sql`true`
    : sql`exists (select 1 from ${organizationMembers} where ${organizationMembers.organizationId} = ${repositories.ownerId}
        and ${organizationMembers.userId} = ${actor.user.id})`
  return sql`(${isMember} and ${repositories.id} in (${reachedByTeam(teamId)}))`
}

/** More words than this make one statement too dear. */
const MAX_WORDS = 10

/** The words of a text that counts as several, in small letters. */
export function wordsOf(text: string): string[] {
  const words = [...new Set(text.toLowerCase().split(','))].map((word) => word.trim()).filter((word) => word !== '')
  return words.slice(0, MAX_WORDS)
}

function textCondition(text: string, { inTopics, inDescription, topicNames }: RepositoryFilter): SQL | undefined {
  const words = wordsOf(text)
  if (words.length === 0) return undefined
  if (inTopics) return hasTopic(words)
  return or(
    ...words.flatMap((word) => wordConditions(word, inDescription ?? false)),
    topicNames?.length ? hasTopic(topicNames) : undefined,
  )
}

const hasTopic = (names: readonly string[]): SQL => sql`${repositories.topics} && ${arrayOf(names)}::text[]`

function wordConditions(word: string, inDescription: boolean): (SQL | undefined)[] {
  const part = (text: string) => `%${escapeLike(text)}%`
  const [owner, name, ...more] = word.split('/')
  const isPath = owner !== undefined && name !== undefined && more.length === 0
  return [
    sql`${repositories.lowerName} like ${part(word)}`,
    inDescription ? sql`lower(${repositories.description}) like ${part(word)}` : undefined,
    isPath
      ? and(sql`${users.lowerName} like ${part(owner)}`, sql`${repositories.lowerName} like ${part(name)}`)
      : undefined,
  ]
}
