import type { RepositoryRights } from './decide.ts'
import type { LoadedRepository } from './load.ts'

/** The repository that a path names, with what the caller may do with it. */
export interface RepositoryAccess extends LoadedRepository, RepositoryAddresses {
  rights: RepositoryRights
  fullName: string
}

export interface RepositoryAddresses {
  /** In the API. */
  apiUrl: string
  /** Of its page. */
  htmlUrl: string
}

export const addressesOf = (baseUrl: string, fullName: string): RepositoryAddresses => ({
  apiUrl: `${baseUrl}/api/v1/repos/${fullName}`,
  htmlUrl: `${baseUrl}/${fullName}`,
})
