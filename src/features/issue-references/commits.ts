import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { comments, type IssueRow } from '../../../db/schema/issues.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import type { Context } from '../../context.ts'
import type { EventPayload } from '../../events/catalogue.ts'
import { issuesNamedInPlain } from '../../render/named-issues.ts'
import { hasOpenDependency } from '../issue-dependencies/store.ts'
import { recordStateChange } from '../issues/service.ts'
import { lockIssue, updateIssue } from '../issues/store.ts'
import { findTargets, type Target } from './targets.ts'
import { type Author, touch } from './texts.ts'

type Push = Pick<EventPayload<'push'>, 'ref'> & { commits?: { sha: string; message: string }[] }

/**
 * Writes into the history of issues which commits of a push name them, the oldest first. Commits that reach the default branch close and open
 * what their words ask for, as far as who pushed may. A commit refers to an issue, closes it and opens it once, however often it is pushed; a
 * push to the issue's own repository takes over the entry of one elsewhere.
 */
export async function recordCommits({ db }: Context, author: Author, { ref, commits = [] }: Push): Promise<void> {
  const [place] = await db
    .select({ defaultBranch: repositories.defaultBranch })
    .from(repositories)
    .where(eq(repositories.id, author.repositoryId))
  if (!place) return
  const isDefault = ref === `refs/heads/${place.defaultBranch}`
  for (const { sha, message } of commits.toReversed()) {
    const targets = await findTargets(db, author, issuesNamedInPlain(message))
    for (const target of targets.filter(({ mayRefer }) => mayRefer)) {
      const commit = { refRepositoryId: author.repositoryId, refCommitSha: sha }
      await db.transaction(async (tx) => {
        // Before the entry, which takes a weaker lock: two commits that have it would wait for each other.
        const issue = await lockIssue(tx, target.repositoryId, target.number)
        if (!issue) return
        await refer(tx, author, { target, commit, title: titleOf(message) })
        if (isDefault && target.mayChange && target.action !== 'none')
          await changeState(tx, author, { issue, target, commit })
      })
    }
  }
}

interface Commit {
  refRepositoryId: number
  refCommitSha: string
}

/** Longer titles are cut. */
const MAX_TITLE = 255

const titleOf = (message: string): string => (message.split('\n', 1)[0] ?? '').slice(0, MAX_TITLE)

async function refer(
  tx: Db,
  { actorId: posterId, repositoryId, at }: Author,
  { target, commit, title }: { target: Target; commit: Commit; title: string },
): Promise<void> {
  const pushed = { posterId, refRepositoryId: commit.refRepositoryId, createdAt: at, updatedAt: at }
  const row = { issueId: target.issueId, kind: 'commit_ref', body: title, refAction: 'none', ...commit, ...pushed }
  const isOwn = sql`${repositoryId}::bigint = ${target.repositoryId}::bigint`
  const changed = await tx
    .insert(comments)
    .values(row)
    .onConflictDoUpdate({
      target: [comments.issueId, comments.kind, comments.refCommitSha],
      targetWhere: sql`ref_commit_sha is not null`,
      set: pushed,
      // Who reads the issue may not see where the commit was before, such as in a private fork.
      setWhere: sql`${comments.refRepositoryId} is null or ${isOwn} and ${comments.refRepositoryId} <> ${repositoryId}::bigint`,
    })
    .returning({ id: comments.id })
  if (changed.length > 0) await touch(tx, [target.issueId], at)
}

async function changeState(
  tx: Db,
  { actorId, at }: Author,
  { issue: before, target, commit }: { issue: IssueRow; target: Target; commit: Commit },
): Promise<void> {
  const { repositoryId, ownerId } = target
  const isClosed = target.action === 'closes'
  if (before.isClosed === isClosed || (await wasDone(tx, target, commit))) return
  // Wire: what waits for others stays open.
  if (isClosed && target.hasDependencies && (await hasOpenDependency(tx, before.id))) return
  const issue = await updateIssue(tx, before.id, { isClosed, closedAt: isClosed ? at : null, updatedAt: at })
  await recordStateChange(tx, { actorId, repositoryId, ownerId }, { issue, commit })
}

/** Somebody may have opened again since what the commit closed. */
const wasDone = async (tx: Db, { issueId, action }: Target, { refCommitSha }: Commit): Promise<boolean> => {
  const kind = action === 'closes' ? 'close' : 'reopen'
  const done = and(eq(comments.issueId, issueId), eq(comments.kind, kind), eq(comments.refCommitSha, refCommitSha))
  return (await tx.$count(comments, done)) > 0
}
