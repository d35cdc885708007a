import type { Db } from '../../../db/client.ts'
import type { NewRepository, RepositoryRow } from '../../../db/schema/repositories.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import { violatedConstraint } from '../../../db/violations.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { appendEvent } from '../../events/append.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import { hasForeignScheme } from '../../kernel/website.ts'
import { editMirror } from '../mirrors/edit.ts'
import { BRANCHES } from '../refs/names.ts'
import { loadRows, lockRepository, raiseGeneration } from '../refs/store.ts'
import { unitChanges } from './edit-units.ts'
import { NAME_TAKEN, requireBranchName, requireRepositoryName } from './names.ts'
import { hideForks, requiresPrivateForks } from './privacy.ts'
import type { EditRepoOption } from './schema.ts'
import { endRedirect, insertRedirect, updateRepository } from './store.ts'
import { auditSubjectOf, payloadOf, subjectOf } from './subject.ts'

interface Edit {
  repository: RepositoryRow
  owner: UserRow
  change: EditRepoOption
}

/**
 * Changes what is given and nothing else. An old name leads to the new one until somebody takes it.
 * @throws Refusal 422 for a name that is taken or cannot be, a branch name that cannot be, pull requests for a branch that is not there,
 * a link to something else than a web page
 */
export async function editRepository(context: Context, actor: Actor, edit: Edit): Promise<void> {
  try {
    await context.db.transaction(async (tx) => {
      const inside = { ...context, db: tx }
      const staysPrivate = await mustStayPrivate(tx, edit)
      // What an edit at the same moment has left is what this one changes.
      const repository = await lockRepository(tx, edit.repository.id)
      if (!repository) throw notFound()
      const change = await withoutEffectless(tx, repository, { change: edit.change, staysPrivate })
      await requireTargetBranch(tx, repository.id, change.default_target_branch)
      const columns = {
        ...plainColumns(context, repository, change),
        ...unitChanges(repository, change),
        ...(await editMirror(inside, repository, change)),
      }
      const name = newName(repository, change)
      if (name === undefined && Object.keys(columns).length === 0) return
      const updatedAt = context.clock.now()
      const row = await updateRepository(tx, repository.id, { ...columns, ...(name ? { name } : {}), updatedAt })
      if (!row) throw notFound()
      if (name !== undefined) await recordRename(inside, actor, { ...edit, repository, row })
      const after = { ...columns, ...(name ? { name } : {}) }
      const subject = auditSubjectOf({ repository: row, owner: edit.owner })
      await recordAudit(tx, actor, { action: 'repository.edit', subject, before: repository, after })
      if (row.isPrivate && !repository.isPrivate) await hideForks(tx, row.id, updatedAt)
      if (row.defaultBranch !== repository.defaultBranch)
        await appendEvent(tx, { ...subjectOf(row, actor), kind: 'repository.default_branch_changed', payload: {} })
      if (columns.defaultBranch !== undefined) await moveHead(inside, row)
    })
  } catch (error) {
    throw violatedConstraint(error) === 'repositories_owner_name_key' ? invalid(NAME_TAKEN, 'name') : error
  }
}

/** Locks the parent before the fork, as whoever makes the parent private does. */
async function mustStayPrivate(tx: Db, { repository: { parentId }, change }: Edit): Promise<boolean> {
  if (change.private !== false || parentId === null) return false
  return (await requiresPrivateForks(tx, parentId)) === true
}

/** Wire: a branch that does not exist, and publicity for a fork of what is private, are passed over without a word. */
async function withoutEffectless(
  tx: Db,
  { id, isEmpty }: RepositoryRow,
  { change, staysPrivate }: { change: EditRepoOption; staysPrivate: boolean },
): Promise<EditRepoOption> {
  const { default_branch: branch } = change
  if (branch) requireBranchName(branch)
  const isUnknown = branch && !isEmpty && !(await isBranch(tx, id, branch))
  return {
    ...change,
    default_branch: isUnknown ? undefined : branch,
    private: staysPrivate ? undefined : change.private,
  }
}

async function requireTargetBranch(tx: Db, id: number, branch: string | undefined): Promise<void> {
  if (branch && !(await isBranch(tx, id, branch))) throw invalid('there is no such branch', 'default_target_branch')
}

const isBranch = async (tx: Db, id: number, name: string): Promise<boolean> =>
  (await loadRows(tx, id, [BRANCHES + name])).has(BRANCHES + name)

function newName({ name }: RepositoryRow, change: EditRepoOption): string | undefined {
  if (change.name === undefined || change.name === name) return undefined
  requireRepositoryName(change.name)
  return change.name
}

type Columns = Partial<NewRepository>

function plainColumns({ clock }: Context, repository: RepositoryRow, change: EditRepoOption): Columns {
  // Wire: any text. But it is shown as a link, and nothing but a web page may be behind that.
  if (change.website && hasForeignScheme(change.website)) throw invalid('Url', 'website')
  const { archived } = change
  return withoutAbsent({
    description: change.description,
    website: change.website,
    isPrivate: change.private,
    isTemplate: change.template,
    defaultBranch: change.default_branch || undefined,
    isArchived: archived,
    archivedAt:
      archived === undefined || archived === repository.isArchived ? undefined : archived ? clock.now() : null,
    ignoreWhitespaceConflicts: change.ignore_whitespace_conflicts,
    allowMergeCommits: change.allow_merge_commits,
    allowRebase: change.allow_rebase,
    allowRebaseExplicit: change.allow_rebase_explicit,
    allowSquashMerge: change.allow_squash_merge,
    allowFastForwardOnlyMerge: change.allow_fast_forward_only_merge,
    allowMergeUpdate: change.allow_merge_update,
    allowRebaseUpdate: change.allow_rebase_update,
    allowManualMerge: change.allow_manual_merge,
    autodetectManualMerge: change.autodetect_manual_merge,
    defaultDeleteBranchAfterMerge: change.default_delete_branch_after_merge,
    defaultMergeStyle: change.default_merge_style || undefined,
    defaultUpdateStyle: change.default_update_style || undefined,
    defaultTargetBranch: change.default_target_branch,
    defaultAllowMaintainerEdit: change.default_allow_maintainer_edit,
  })
}

function withoutAbsent(columns: Columns): Columns {
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined))
}

async function recordRename(
  context: Context,
  actor: Actor,
  { repository: old, owner, row }: Edit & { row: RepositoryRow },
): Promise<void> {
  const { db } = context
  await endRedirect(db, row)
  // Another letter case is the same name: nothing would lead to it.
  if (old.lowerName !== row.lowerName) await insertRedirect(db, old)
  await appendEvent(db, {
    ...subjectOf(row, actor),
    kind: 'repository.renamed',
    payload: { ...payloadOf(row, owner), oldName: old.name },
  })
}

/** Under the lock of the row, and last: what can fail afterwards is only the commit. */
async function moveHead({ db, git }: Context, { id, defaultBranch }: RepositoryRow): Promise<void> {
  await git.setHead(id, defaultBranch)
  // A push that has read HEAD before reads it again.
  await raiseGeneration(db, id)
}
