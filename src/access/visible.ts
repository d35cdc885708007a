import { type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { accessTokenRepositories } from '../../db/schema/credentials.ts'
import { repositories } from '../../db/schema/repositories.ts'
import { users } from '../../db/schema/users.ts'
import type { Actor, JobCredential } from '../auth/actor.ts'
import type { SiteRules } from './decide.ts'
import { jobLevel } from './jobs.ts'
import { isOpenTo, isPublicly, isReachedBy, type Openness, reaches } from './reach.ts'
import { Level, type Unit, units } from './units.ts'

/** Of `repositories` joined with its owner in `users`. */
const openness: Openness = { isPrivate: repositories.isPrivate, ownerVisibility: users.visibility }

/** What everybody reads where nobody has to sign in, as a condition over `repositories` joined with its owner in `users`. */
export const isPublic = isPublicly(openness)

const constant = (value: boolean): SQL => (value ? sql`true` : sql`false`)

/**
 * What the reader sees without being given it, as a condition over anything that says how open a repository is. Undefined: all there
 * is.
 */
export function openTo(site: SiteRules, actor: Actor | undefined, of: Openness = openness): SQL | undefined {
  if (!actor) return site.requireSigninView ? sql`false` : isPublicly(of)
  if (actor.publicOnly) return isPublicly(of)
  if (actor.user.isAdmin) return undefined
  return isOpenTo(constant(actor.user.isRestricted), of)
}

/**
 * `decideRights(...).highest >= read` as a condition over `repositories` joined with its owner in `users`, for lists. Filtering
 * in the statement keeps totals and pages right and reveals nothing of hidden rows.
 * @param unit asks for read on this unit instead; whether the repository has it switched on is not looked at
 */
export function visibleTo(site: SiteRules, actor: Actor | undefined, unit?: Unit): SQL {
  const open = openTo(site, actor)
  if (!actor || actor.publicOnly) return open ?? sql`true`
  if (actor.job) return sql`(${isPublic} or ${isReadByJob(actor.job, unit)})`
  const reachable = open ? sql`(${open} or ${isReachedBy(actor.user.id, repositories, { unit })})` : sql`true`
  if (!actor.repositoryIds) return reachable
  const chosen = sql`${repositories.id} in (
    select ${accessTokenRepositories.repositoryId} from ${accessTokenRepositories}
    where ${accessTokenRepositories.tokenId} = ${actor.tokenId})`
  return sql`(${reachable} and (${isPublic} or ${chosen}))`
}

/** The repository of the job, as far as its permissions reach. */
const isReadByJob = (job: JobCredential, unit: Unit | undefined): SQL =>
  (unit === undefined ? units : [unit]).some((one) => jobLevel(job, one) >= Level.read)
    ? sql`${repositories.id} = ${job.repositoryId}`
    : sql`false`

/** Those of whom it is asked whether they may read something. */
export const readers = alias(users, 'reader')

/**
 * `visibleTo` for many people at once: whether the person in `readers`, signed in and without a token, may read the unit, as a
 * condition over `repositories` joined with its owner in `users`. Of ten thousand readers of a public repository hardly any is looked up.
 */
export const readableBy = (unit: Unit): SQL => sql`(
  ${readers.isAdmin} or ${isOpenTo(readers.isRestricted, openness)} or ${reaches(readers.id, repositories, { unit })})`

/** The same for changing things of the unit. */
export const writableBy = (unit: Unit): SQL => sql`(
  ${readers.isAdmin} or ${reaches(readers.id, repositories, { unit, level: 'write' })})`
