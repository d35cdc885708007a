import type { RepositoryRow } from '../../../db/schema/repositories.ts'
import type { Context } from '../../context.ts'
import type { RefChange } from '../../git/model.ts'
import type { JobRun } from '../../jobs/handlers.ts'
import { invalid } from '../../kernel/errors.ts'
import { requireAcceptable } from '../mirrors/pull.ts'
import { openRemote } from '../mirrors/remote.ts'
import { whileIntended } from '../refs/change.ts'
import { BRANCHES } from '../refs/names.ts'
import { longestPushSeconds } from '../refs/repair.ts'
import { openWiki } from '../wikis/folder.ts'
import { beginWikiPush, finishWikiPush } from '../wikis/pushes.ts'

interface WikiCopy {
  repository: RepositoryRow
  credentials: Uint8Array | null
  run: JobRun
}

/**
 * Fetches the wiki's branches and tags, as those of the code are. Once more changes nothing, and what is here already stays.
 * @returns how many there are on the other server
 * @throws GitError, OutboundError; Refusal 422 past MAX_REFS
 */
export async function copyWiki(context: Context, { repository, credentials, run }: WikiCopy): Promise<number> {
  const { git, config } = context
  const { signal } = run
  const remote = await openRemote(context, { url: wikiUrlOf(repository.originalUrl), credentials })
  const listed = await git.listRemote(remote, { signal })
  requireAcceptable(context, repository, listed)
  if (listed.refs.length === 0) return 0
  const folderId = await openWiki(context, repository)
  if (run.attempt > 1) await git.cleanStale(folderId, longestPushSeconds(config))
  const fetched = await git.fetchRemote(folderId, { remote, maxBytes: config.maxPushBytes }, { signal })
  const present = new Set((await git.listRefs(folderId, { limit: config.maxRefs + 1 })).map(({ name }) => name))
  const changes = [...fetched].flatMap(([ref, sha]): RefChange[] =>
    present.has(ref) ? [] : [{ ref, old: null, new: sha }],
  )
  if (changes.length > 0) await moveRefs(context, { repository, folderId, changes, head: listed.head })
  await git.forgetRemote(folderId, { signal })
  return listed.refs.length
}

/** Wire: beside the repository, with another end. */
const wikiUrlOf = (url: string): string => url.replace(/(\.git)?\/*$/, '.wiki.git')

interface Moves {
  repository: RepositoryRow
  folderId: number
  changes: RefChange[]
  head: string | undefined
}

async function moveRefs(context: Context, { repository, folderId, changes, head }: Moves): Promise<void> {
  const { git, db, config } = context
  const place = { repositoryId: repository.id, folderId }
  const begun = await beginWikiPush(context, { ...place, pusherId: repository.ownerId, newRefs: changes.length })
  if ('fault' in begun) throw invalid(begun.fault)
  const { pushId } = begun
  await whileIntended(db, pushId, async () => {
    if (head !== undefined && changes.some(({ ref }) => ref === BRANCHES + head)) await git.setHead(folderId, head)
    await git.updateRefs(folderId, changes, { timeoutMs: config.gitTimeoutSeconds * 1000 })
  })
  await finishWikiPush(context, { ...place, pushId })
}
