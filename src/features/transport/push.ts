import type { Context } from '../../context.ts'
import { encodePushRefusal, readPushHead } from '../../git/push.ts'
import { clientOf, type PushAccess } from '../../http/git-gate.ts'
import { loadGuard } from '../protections/guard.ts'
import { beginPush, pusherOf } from '../refs/change.ts'
import { editRepository } from '../repositories/edit.ts'
import { judgeOfContent, judgePush, type PushOptions, readPushOptions } from './judge.ts'
import { receivePush } from './receive.ts'

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
  const { access, protocol, maxBytes, signal } = push
  const client = clientOf(access.actor, undefined)
  const head = await readPushHead(push.body)
  // A lone flush: whether a large body may be sent, or nothing to push.
  if (head.commands.length === 0) return { report: new Uint8Array(), rest: head.body }
  const repositoryId = access.repo.repository.id
  const guard = await loadGuard(context, { actor: access.actor, repository: access.repo.repository })
  const refusal = judgePush(head.commands, guard)
  if (refusal) return { report: encodePushRefusal(head, refusal), rest: head.body }
  const options = readPushOptions(access, head.options)
  if ('fault' in options) return { report: encodePushRefusal(head, () => options.fault), rest: head.body }
  const pusher = pusherOf(access.actor.user, access.repo)
  const obey = head.options.length === 0 ? undefined : () => changeRepository(context, access, options.change)
  const judge = judgeOfContent(context, guard, head.commands)
  const newRefs = head.commands.filter(({ old }) => old === null).length
  const begun = await beginPush(context, { repositoryId, pusherId: pusher.id, newRefs })
  if ('fault' in begun) return { report: encodePushRefusal(head, () => begun.fault), rest: head.body }
  const { pushId } = begun
  return {
    answer: await receivePush(context, {
      pushId,
      repositoryId,
      pusher,
      head,
      protocol,
      maxBytes,
      signal,
      client,
      obey,
      judge,
    }),
  }
}

async function changeRepository(context: Context, { actor, repo }: PushAccess, change: PushOptions): Promise<void> {
  const { repository, owner } = repo
  await editRepository(context, actor, { repository, owner, change })
}
