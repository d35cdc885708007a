import type { RepositoryRow } from '../../../db/schema/repositories.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import type { Actor } from '../../auth/actor.ts'

/** Who did it to which repository, as events say it. */
export const subjectOf = ({ id, ownerId }: RepositoryRow, actor: Actor) => ({
  actorId: actor.user.id,
  repositoryId: id,
  ownerId,
})

/** What events keep of a repository, for when it is gone. */
export const payloadOf = ({ id, name }: RepositoryRow, owner: UserRow) => ({
  repositoryId: id,
  name,
  ownerName: owner.name,
})

/** How the audit trail names a repository. */
export const auditSubjectOf = ({ repository: { id, name }, owner }: Named) => ({
  kind: 'repository',
  id,
  name: `${owner.name}/${name}`,
})

interface Named {
  repository: Pick<RepositoryRow, 'id' | 'name'>
  owner: Pick<UserRow, 'name'>
}
