import type { PermissionWord } from '../../db/schema/organizations.ts'
import type { RepositoryRow } from '../../db/schema/repositories.ts'
import type { UserRow, Visibility } from '../../db/schema/users.ts'
import type { Actor } from '../auth/actor.ts'
import { jobLevel } from './jobs.ts'
import { hasUnit, higher, Level, type Unit, units } from './units.ts'

/** What the database knows of one person and one repository, gathered by the same statement that reads the repository. */
export interface Relation {
  collaboration: PermissionWord | null
  isMember: boolean
  teams: TeamGrant[]
  /** The repository is offered to the person, or to an organization for which they may take it. */
  isRecipient: boolean
}

export interface TeamGrant {
  permission: PermissionWord
  units: Partial<Record<string, PermissionWord>>
}

export const noRelation: Relation = { collaboration: null, isMember: false, teams: [], isRecipient: false }

/** One person's rights on one repository. */
export interface RepositoryRights {
  /** The level on a unit; `none` where the unit is switched off. */
  level(unit: Unit): Level
  /** The highest level on any unit: whether the repository is known to this person at all. */
  readonly highest: Level
  /** Administrator of the repository as a whole: settings, hooks, deletion (owner). */
  readonly overall: Level
}

export interface SiteRules {
  requireSigninView: boolean
}

/**
 * The one rule of who may do what with a repository. reach.ts says the same as SQL, and a test holds the two against each other over
 * generated worlds.
 */
export function decideRights(
  site: SiteRules,
  actor: Actor | undefined,
  subject: { repository: RepositoryRow; owner: UserRow; relation: Relation },
): RepositoryRights {
  const { repository, owner, relation } = subject
  const isPublic = !repository.isPrivate && owner.visibility === 'public'
  const isOutsideToken = actor?.repositoryIds !== undefined && !actor.repositoryIds.includes(repository.id)
  if (actor && isOutsideToken && !isPublic) return rights(repository, Level.none, () => Level.none)
  if (actor?.publicOnly && !isPublic) return rights(repository, Level.none, () => Level.none)
  const overall = overallLevel(actor, owner, relation)
  const base = relation.isRecipient || mayReadOpenly(site, actor, subject) ? Level.read : Level.none
  const capped = (level: Level): Level => (isOutsideToken && level > Level.read ? Level.read : level)
  return rights(repository, capped(overall), (unit) =>
    capped(higher(higher(base, overall), unitLevel(actor, subject, unit))),
  )
}

function rights(repository: RepositoryRow, overall: Level, of: (unit: Unit) => Level): RepositoryRights {
  const level = (unit: Unit): Level => (hasUnit(repository, unit) ? of(unit) : Level.none)
  // A repository with every unit switched off is still there for those who could read one.
  const highest = units.reduce<Level>((best, unit) => higher(best, of(unit)), overall)
  return { level, highest, overall }
}

/** Rights that hold for the repository as a whole. */
function overallLevel(actor: Actor | undefined, owner: UserRow, relation: Relation): Level {
  if (!actor) return Level.none
  if (actor.user.isAdmin || actor.user.id === owner.id) return Level.owner
  const fromTeams = relation.teams.reduce<Level>(
    (best, { permission }) => (permission === 'none' ? best : higher(best, Level[permission])),
    Level.none,
  )
  return relation.collaboration ? higher(fromTeams, Level[relation.collaboration]) : fromTeams
}

function unitLevel(
  actor: Actor | undefined,
  { repository, relation }: { repository: RepositoryRow; relation: Relation },
  unit: Unit,
): Level {
  if (!actor) return Level.none
  if (actor.job) return actor.job.repositoryId === repository.id ? jobLevel(actor.job, unit) : Level.none
  return relation.teams.reduce<Level>((best, team) => higher(best, Level[team.units[unit] ?? 'none']), Level.none)
}

/** What everybody, or every member, may read without being given it. */
function mayReadOpenly(
  site: SiteRules,
  actor: Actor | undefined,
  { repository, owner, relation }: { repository: RepositoryRow; owner: UserRow; relation: Relation },
): boolean {
  if (repository.isPrivate) return false
  if (!actor) return owner.visibility === 'public' && !site.requireSigninView
  switch (owner.visibility) {
    case 'public':
      return true
    case 'limited':
      return !actor.user.isRestricted || relation.isMember
    case 'private':
      return relation.isMember
  }
}

/**
 * Whether a person or an organization may be known to the actor. `isRelated`: the actor belongs to the organization, or shares a team
 * with the person.
 */
export function maySeeOwner(
  site: SiteRules,
  actor: Actor | undefined,
  owner: { id: number; visibility: Visibility },
  isRelated: boolean,
): boolean {
  if (actor?.publicOnly && owner.visibility !== 'public') return false
  if (!actor) return owner.visibility === 'public' && !site.requireSigninView
  if (actor.user.isAdmin || actor.user.id === owner.id || isRelated) return true
  return owner.visibility !== 'private' && !(actor.user.isRestricted && owner.visibility === 'limited')
}

/** Of several the best counts: labels, say, belong to issues as well as to pull requests. */
export type UnitRule = Unit | readonly Unit[] | undefined

/** What is asked of a repository before somebody is let in. */
export interface RepositoryQuestion {
  /** Absent: the repository as a whole. */
  unit?: UnitRule
  level: 'read' | 'write' | 'admin' | 'owner'
  /** Reading is never refused for being archived or for a token that was made for other repositories. */
  isChange: boolean
  /** Settings, which are how an archived repository becomes a living one again. */
  evenArchived?: boolean
}

/** `hidden` must be answered as what does not exist; the other refusals go to callers who may know of the repository. */
export type Verdict = 'granted' | 'hidden' | 'not-chosen' | 'lacking' | 'archived'

/** Whether this credential may do this with that repository: what the API, Git over HTTP and Git over SSH all ask. */
export function judge(
  actor: Actor | undefined,
  { repository, rights }: { repository: Pick<RepositoryRow, 'id' | 'isArchived'>; rights: RepositoryRights },
  { unit, level, isChange, evenArchived }: RepositoryQuestion,
): Verdict {
  if (rights.highest < Level.read || levelOn(rights, unit, rights.highest) < Level.read) return 'hidden'
  if (isChange && actor?.repositoryIds && !actor.repositoryIds.includes(repository.id)) return 'not-chosen'
  // Whoever knows of a repository may read it as a whole; more than that is given for the whole.
  const held = levelOn(rights, unit, level === 'read' ? rights.highest : rights.overall)
  if (held < Level[level]) return 'lacking'
  return isChange && repository.isArchived && !evenArchived ? 'archived' : 'granted'
}

const levelOn = (rights: RepositoryRights, unit: UnitRule, otherwise: Level): Level =>
  unit === undefined
    ? otherwise
    : [unit].flat().reduce<Level>((best, one) => higher(best, rights.level(one)), Level.none)
