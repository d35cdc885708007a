import type { RepositoryRow } from '../../../db/schema/repositories.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import { violatedConstraint } from '../../../db/violations.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import type { UnadoptedFolder } from '../../git/model.ts'
import { conflict } from '../../kernel/errors.ts'
import { auditSubjectOf } from '../repositories/subject.ts'
import { buildWiki } from '../wikis/folder.ts'
import { finishWikiPush } from '../wikis/pushes.ts'

/** Whose wiki a folder would be, by its name; undefined for any other folder. */
export const repositoryOfWiki = ({ name }: UnadoptedFolder): string | undefined => /^(.+)\.wiki$/i.exec(name)?.[1]

interface Adoption {
  repository: RepositoryRow
  owner: UserRow
  folder: UnadoptedFolder
}

/**
 * Makes a folder the wiki of a repository that has none. The folder stays where it is.
 * @throws Refusal 409 when the repository has a wiki; GitError as `importRepository`
 */
export async function adoptWiki(
  context: Context,
  actor: Actor,
  { repository, owner, folder }: Adoption,
): Promise<void> {
  const { id: repositoryId } = repository
  const folderId = await buildWiki(context, repositoryId, (id) => context.git.importRepository(id, folder)).catch(
    (error: unknown) => {
      throw violatedConstraint(error) === 'wikis_pkey' ? conflict('the repository has a wiki') : error
    },
  )
  await finishWikiPush(context, { repositoryId, folderId })
  const subject = auditSubjectOf({ repository, owner })
  await recordAudit(context.db, actor, { action: 'repository.adopt', subject, after: { wiki: true } })
}
