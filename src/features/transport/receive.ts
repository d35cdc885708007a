import type { Context } from '../../context.ts'
import type { Client, Look, Pusher } from '../../git/model.ts'
import type { PushHead } from '../../git/push.ts'
import { removePush } from '../refs/store.ts'

export interface Push {
  /** The intent, as `beginPush` and `beginWikiPush` make it. */
  pushId: number
  folderId: number
  pusher: Pusher
  head: PushHead
  protocol: string | undefined
  maxBytes: number
  /** Of the request: ends git with the client. */
  signal: AbortSignal
  client: Client
  /** Looks at what the push has brought before any ref moves; undefined where Git alone decides. */
  judge: ((look: Look) => Promise<string | undefined>) | undefined
  /**
   * Records what has moved, and ends the intent. Where git was killed or broken off, it may have left locks and files, and children
   * that still work: then the intent has to stay for the repair.
   */
  record(isClean: boolean): Promise<void>
}

/**
 * Lets git take a push whose commands have been judged. The end of the answer comes after the transaction that records what has
 * moved: a client that saw its push succeed finds it in every list, also if the server dies at once. A crash in between leaves
 * the intent, and `repairPushes` does the rest.
 */
export async function receivePush(context: Context, push: Push): Promise<ReadableStream<Uint8Array>> {
  const { pushId, folderId, head } = push
  const served = await context.git
    .serve(folderId, 'receive-pack', {
      body: head.body,
      protocol: push.protocol,
      maxInputBytes: push.maxBytes,
      signal: push.signal,
      client: push.client,
      pusher: push.pusher,
      judge: push.judge,
    })
    .catch(async (error: unknown) => {
      // Git was not started: there is nothing to repair.
      await removePush(context.db, pushId)
      throw error
    })
  const recorded = served.done.then(({ exitCode, stderr }) => {
    const isClean = exitCode === 0
    if (!isClean) context.log.info({ folderId, exitCode, stderr }, 'a push ended early')
    return push.record(isClean)
  })
  // Also without a reader: a client that went away may have moved its refs.
  recorded.catch((err: unknown) => context.log.error({ err, folderId }, 'a push is not recorded yet'))
  return holdEnd(served.stream, recorded)
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
