import type { RepositoryRow } from '../../db/schema/repositories.ts'
import type { Actor } from '../auth/actor.ts'
import type { RepositoryRights } from './decide.ts'
import { higher, Level } from './levels.ts'
import type { Unit } from './units.ts'

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
