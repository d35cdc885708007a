import type { RepositoryAccess } from '../../access/repository-access.ts'

/** The repository of an issue, as `presentIssue` needs it. */
export const shownPlace = ({ repository, owner, apiUrl, htmlUrl }: RepositoryAccess) => ({
  id: repository.id,
  name: repository.name,
  ownerName: owner.name,
  apiUrl,
  htmlUrl,
})
