import type { Context } from '../../context.ts'
import { encodePushRefusal, readPushHead } from '../../git/push.ts'
import type { PushAccess } from '../../http/git-gate.ts'
import { pusherOf } from '../refs/change.ts'
import { findLackOfRoom } from '../refs/room.ts'
import { judgePush } from './judge.ts'
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

/** One push, by whichever door: its commands are judged before git is started. Throws GitError as `readPushHead` and `Git.serve`. */
export async function takePush(context: Context, push: IncomingPush): Promise<PushOutcome> {
  const { access, protocol, maxBytes, signal } = push
  const head = await readPushHead(push.body)
  // A lone flush: whether a large body may be sent, or nothing to push.
  if (head.commands.length === 0) return { report: new Uint8Array(), rest: head.body }
  const repositoryId = access.repo.repository.id
  const made = head.commands.filter(({ old }) => old === null).length
  const lack = await findLackOfRoom(context, repositoryId, made)
  const refusal = lack === undefined ? judgePush(head.commands) : () => lack
  if (refusal) return { report: encodePushRefusal(head, refusal), rest: head.body }
  const pusher = pusherOf(access.actor.user, access.repo)
  return { answer: await receivePush(context, { repositoryId, pusher, head, protocol, maxBytes, signal }) }
}
