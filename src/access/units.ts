import type { PermissionWord } from '../../db/schema/organizations.ts'
import type { RepositoryRow } from '../../db/schema/repositories.ts'

/** The parts of a repository that rights are given for, by their wire names. */
export const units = [
  'repo.code',
  'repo.issues',
  'repo.ext_issues',
  'repo.wiki',
  'repo.ext_wiki',
  'repo.pulls',
  'repo.releases',
  'repo.projects',
  'repo.packages',
  'repo.actions',
] as const
export type Unit = (typeof units)[number]

export const isUnit = (name: string): name is Unit => units.some((unit) => unit === name)

type UnitSwitches = Pick<
  RepositoryRow,
  | 'hasCode'
  | 'hasIssues'
  | 'hasWiki'
  | 'hasPullRequests'
  | 'hasReleases'
  | 'hasProjects'
  | 'hasPackages'
  | 'hasActions'
  | 'externalTracker'
  | 'externalWikiUrl'
>

/** Whether the repository has this part switched on. */
export function hasUnit(repository: UnitSwitches, unit: Unit): boolean {
  switch (unit) {
    case 'repo.code':
      return repository.hasCode
    case 'repo.issues':
      return repository.hasIssues && repository.externalTracker === null
    case 'repo.ext_issues':
      return repository.hasIssues && repository.externalTracker !== null
    case 'repo.wiki':
      return repository.hasWiki && repository.externalWikiUrl === null
    case 'repo.ext_wiki':
      return repository.hasWiki && repository.externalWikiUrl !== null
    case 'repo.pulls':
      return repository.hasPullRequests
    case 'repo.releases':
      return repository.hasReleases
    case 'repo.projects':
      return repository.hasProjects
    case 'repo.packages':
      return repository.hasPackages
    case 'repo.actions':
      return repository.hasActions
  }
}

/** What somebody may do with one unit of a repository. Levels are ordered: each includes those before it. */
export const Level = { none: 0, read: 1, write: 2, admin: 3, owner: 4 } as const
export type Level = (typeof Level)[PermissionWord]

const words: readonly PermissionWord[] = ['none', 'read', 'write', 'admin', 'owner']

export const levelWord = (level: Level): PermissionWord => words[level] ?? 'none'

export const higher = (left: Level, right: Level): Level => (left > right ? left : right)
