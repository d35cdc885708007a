import type { JobCredential } from '../auth/actor.ts'
import { Level, type Unit } from './units.ts'

/** The words of `permissions` that speak of a unit. Of those that a job has, the first counts. */
const words: Record<Unit, readonly string[]> = {
  'repo.code': ['code', 'contents'],
  'repo.releases': ['releases', 'contents'],
  'repo.issues': ['issues'],
  'repo.ext_issues': ['issues'],
  'repo.pulls': ['pull-requests'],
  'repo.wiki': ['wiki'],
  'repo.ext_wiki': ['wiki'],
  'repo.projects': ['projects', 'repository-projects'],
  'repo.packages': ['packages'],
  'repo.actions': ['actions'],
}

/** What a job may do that says nothing of it. */
const DEFAULT_PERMISSIONS = { contents: 'read' } satisfies JobCredential['permissions']

/**
 * What the token of a job may do with a unit of the job's repository. It reads at most, whatever the job asks for: no row of the database
 * could say who made a change.
 */
export function jobLevel({ permissions }: JobCredential, unit: Unit): Level {
  const given: NonNullable<JobCredential['permissions']> = permissions ?? DEFAULT_PERMISSIONS
  const word = words[unit].find((name) => Object.hasOwn(given, name))
  return word === undefined || given[word] === 'none' ? Level.none : Level.read
}
