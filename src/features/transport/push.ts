import type { Context } from '../../context.ts'
import { encodePushRefusal, type PushCommand, type PushHead, readPushHead } from '../../git/push.ts'
import { clientOf, type PushAccess } from '../../http/git-gate.ts'
import { loadGuard } from '../protections/guard.ts'
import { beginPush, pusherOf } from '../refs/change.ts'
import { releaseNewRefs } from '../refs/store.ts'
import { syncRefs } from '../refs/sync.ts'
import { editRepository } from '../repositories/edit.ts'
import { beginWikiPush, finishWikiPush } from '../wikis/pushes.ts'
import { folderToPush } from './folder.ts'
import { judgeOfContent, judgePush, type PushOptions, readPushOptions } from './judge.ts'
import { type Push, receivePush } from './receive.ts'

export interface IncomingPush {
  access: PushAccess
  /** Commands and pack, as the client sends them. */
  body: ReadableStream<Uint8Array>
  protocol: string | undefined
  maxBytes: number
  /** Ends git with the client. */
  signal: AbortSignal
}

/** Git's answer; or our own report where git was not asked, and what the client still sends before it looks at that. */
export type PushOutcome =
  | { answer: ReadableStream<Uint8Array> }
  | { report: Uint8Array; rest: ReadableStream<Uint8Array> }

/** One push, over HTTP or SSH. Its commands are judged before Git starts. Throws GitError as `readPushHead` and `Git.serve`. */
export async function takePush(context: Context, push: IncomingPush): Promise<PushOutcome> {
  const head = await readPushHead(push.body)
  // A lone flush: whether a large body may be sent, or nothing to push.
  if (head.commands.length === 0) return { report: new Uint8Array(), rest: head.body }
  const taken = await (push.access.unit === 'repo.wiki' ? takeToWiki : takeToCode)(context, push, head)
  if ('fault' in taken) return { report: encodePushRefusal(head, taken.fault), rest: head.body }
  const { access, protocol, maxBytes, signal } = push
  const pusher = pusherOf(access.actor.user, access.repo)
  const client = clientOf(access.actor, undefined)
  return { answer: await receivePush(context, { ...taken, pusher, head, protocol, maxBytes, signal, client }) }
}

/** What is done with a push that may go on; or why each of its commands is refused. */
type Taken = Pick<Push, 'pushId' | 'folderId' | 'judge' | 'record'> | { fault: (command: PushCommand) => string }

const newRefsOf = ({ commands }: PushHead): number => commands.filter(({ old }) => old === null).length

async function takeToCode(context: Context, { access }: IncomingPush, head: PushHead): Promise<Taken> {
  const { actor, repo } = access
  const { repository } = repo
  const { id: repositoryId } = repository
  const guard = await loadGuard(context, { actor, repository })
  const refusal = judgePush(head.commands, guard)
  if (refusal) return { fault: refusal }
  const options = readPushOptions(access, head.options)
  if ('fault' in options) return { fault: () => options.fault }
  const judge = judgeOfContent(context, guard, head.commands)
  const begun = await beginPush(context, { repositoryId, pusherId: actor.user.id, newRefs: newRefsOf(head) })
  if ('fault' in begun) return { fault: () => begun.fault }
  const { pushId } = begun
  const only = [...new Set(head.commands.map(({ ref }) => ref))]
  const record = async (isClean: boolean) => {
    // Before anybody is notified of the push: a repository that is to become private is private by then.
    if (isClean && head.options.length > 0 && (await isTaken(context, repositoryId, head.commands)))
      await changeRepository(context, access, options.change)
    await syncRefs(context, repositoryId, actor.user, { only, ...(isClean && { pushId }) })
    if (!isClean) await releaseNewRefs(context.db, pushId)
  }
  return { pushId, folderId: repositoryId, judge, record }
}

/** Rules for branches and tags are about the code, and nobody is notified. */
async function takeToWiki(context: Context, { access }: IncomingPush, head: PushHead): Promise<Taken> {
  const { actor, repo } = access
  const { id: repositoryId } = repo.repository
  const refusal = judgePush(head.commands)
  if (refusal) return { fault: refusal }
  if (head.options.length > 0) return { fault: () => 'a wiki takes no push options' }
  const folderId = await folderToPush(context, access)
  const push = { repositoryId, folderId, pusherId: actor.user.id, newRefs: newRefsOf(head) }
  const begun = await beginWikiPush(context, push)
  if ('fault' in begun) return { fault: () => begun.fault }
  const { pushId } = begun
  const record = async (isClean: boolean) => {
    await finishWikiPush(context, { repositoryId, folderId, ...(isClean && { pushId }) })
    if (!isClean) await releaseNewRefs(context.db, pushId)
  }
  return { pushId, folderId, judge: undefined, record }
}

/** Whether Git has moved one of the refs at least: a push that was refused as a whole changes no settings either. */
async function isTaken({ git }: Context, repositoryId: number, commands: readonly PushCommand[]): Promise<boolean> {
  for (const { ref, new: wanted } of commands) {
    const held = await git.find(repositoryId, ref)
    if ((held?.sha ?? null) === wanted) return true
  }
  return false
}

async function changeRepository(context: Context, { actor, repo }: PushAccess, change: PushOptions): Promise<void> {
  const { repository, owner } = repo
  await editRepository(context, actor, { repository, owner, change })
}
