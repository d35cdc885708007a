import type { RepositoryRights } from './decide.ts'
import type { LoadedRepository } from './load.ts'

/** The repository that a path names, with what the caller may do with it. */
export interface RepositoryAccess extends LoadedRepository {
  rights: RepositoryRights
  fullName: string
  /** The address of the repository in the API. */
  apiUrl: string
  /** The address of the repository's page. */
  htmlUrl: string
}
