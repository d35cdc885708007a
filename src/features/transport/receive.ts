import type { Context } from '../../context.ts'
import type { Client, Look, Pusher } from '../../git/model.ts'
import type { PushCommand, PushHead } from '../../git/push.ts'
import { releaseNewRefs, removePush } from '../refs/store.ts'
import { syncRefs } from '../refs/sync.ts'

export interface Push {
  /** The intent, as `beginPush` has made it. */
  pushId: number
  repositoryId: number
  pusher: Pusher
  head: PushHead
  protocol: string | undefined
  maxBytes: number
  /** Of the request: ends git with the client. */
  signal: AbortSignal
  client: Client
  /** Does what the options of the push ask for; undefined when there are none. */
  obey: (() => Promise<void>) | undefined
  /** Looks at what the push has brought before any ref moves. */
  judge: ((look: Look) => Promise<string | undefined>) | undefined
}

/**
 * Lets git take a push whose commands have been judged. The end of the answer comes after the transaction that records what has
 * moved: a client that saw its push succeed finds it in every list, also if the server dies at once. A crash in between leaves
 * the intent, and `repairPushes` does the rest.
 */
export async function receivePush(context: Context, push: Push): Promise<ReadableStream<Uint8Array>> {
  const { pushId, repositoryId, pusher, head, signal } = push
  const served = await context.git
    .serve(repositoryId, 'receive-pack', {
      body: head.body,
      protocol: push.protocol,
      maxInputBytes: push.maxBytes,
      signal,
      client: push.client,
      pusher,
      judge: push.judge,
    })
    .catch(async (error: unknown) => {
      // Git was not started: there is nothing to repair.
      await removePush(context.db, pushId)
      throw error
    })
  const recorded = served.done.then(async ({ exitCode, stderr }) => {
    const only = [...new Set(head.commands.map(({ ref }) => ref))]
    // Killed or broken off, git may leave locks and files, and children that still work: the intent stays for the repair.
    const isClean = exitCode === 0
    if (!isClean) context.log.info({ repositoryId, exitCode, stderr }, 'a push ended early')
    // Before anybody is notified of the push: a repository that is to become private is private by then.
    if (isClean && push.obey && (await isTaken(context, repositoryId, head.commands))) await push.obey()
    await syncRefs(context, repositoryId, pusher, { only, ...(isClean && { pushId }) })
    if (!isClean) await releaseNewRefs(context.db, pushId)
  })
  // Also without a reader: a client that went away may have moved its refs.
  recorded.catch((err: unknown) => context.log.error({ err, repositoryId }, 'a push is not recorded yet'))
  return holdEnd(served.stream, recorded)
}

/** Whether Git has moved one of the refs at least: a push that was refused as a whole changes no settings either. */
async function isTaken({ git }: Context, repositoryId: number, commands: readonly PushCommand[]): Promise<boolean> {
  for (const { ref, new: wanted } of commands) {
    const held = await git.find(repositoryId, ref)
    if ((held?.sha ?? null) === wanted) return true
  }
  return false
}

/** Passes everything on but the last chunk, which waits until `ready`; fails if that fails. */
function holdEnd(stream: ReadableStream<Uint8Array>, ready: Promise<void>): ReadableStream<Uint8Array> {
  const reader = stream.getReader()
  let held: Uint8Array | undefined
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const { done, value } = await reader.read()
          const passed = held
          held = value
          if (done) await ready
          if (passed) controller.enqueue(passed)
          if (done) return controller.close()
          if (passed) return
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
