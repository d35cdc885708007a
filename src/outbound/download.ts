import type { IncomingMessage } from 'node:http'
import { Pace } from '../kernel/pace.ts'
import { type FollowOptions, follow, type OutboundRequest } from './follow.ts'
import { OutboundError } from './outbound-error.ts'

export interface DownloadOptions extends FollowOptions {
  limits: FollowOptions['limits'] & {
    /** From the beginning to the last byte, redirects included. */
    wholeMs: number
    /** The least speed: see `Pace`. Only the time that is spent waiting for the other server counts. */
    paceSeconds: number
  }
}

export interface Download {
  status: number
  /**
   * Asked for as fast as it is read, and no faster. Must be read to its end or cancelled. Fails with an OutboundError where it does not
   * come whole. How much comes is for the reader to bound.
   */
  content: ReadableStream<Uint8Array>
}

/**
 * Asks another host for what is too large for memory. Each connection is judged as those of `createOutbound` are.
 * @throws OutboundError when there is no answer
 */
export async function openDownload(
  options: DownloadOptions,
  request: OutboundRequest,
  signal: AbortSignal,
): Promise<Download> {
  const { wholeMs, paceSeconds } = options.limits
  const deadline = AbortSignal.timeout(wholeMs)
  const failure = (error: unknown): unknown => {
    signal.throwIfAborted()
    return deadline.aborted ? new OutboundError('timeout', `not whole in ${wholeMs / 1000} s`) : error
  }
  const stop = AbortSignal.any([signal, deadline])
  try {
    const message = await follow(options, request, stop)
    const content = contentOf(message, { pace: new Pace(paceSeconds), stop, failure })
    return { status: message.statusCode ?? 0, content }
  } catch (error) {
    throw failure(error)
  }
}

interface Reading {
  pace: Pace
  stop: AbortSignal
  /** What is said in place of an error of the connection. */
  failure(error: unknown): unknown
}

function contentOf(message: IncomingMessage, { pace, stop, failure }: Reading): ReadableStream<Uint8Array> {
  const chunks: AsyncIterator<Buffer> = message[Symbol.asyncIterator]()
  const next = async (): Promise<Buffer | undefined> => {
    const step = chunks.next().catch((error: unknown) => {
      throw new OutboundError('broken', 'the connection ended in the middle of the answer', { cause: error })
    })
    if (!(await pace.keeps(step))) throw new OutboundError('timeout', 'the answer comes too slowly')
    const { done, value } = await step
    // Under Bun the loop ends without an error where the signal ended the connection.
    stop.throwIfAborted()
    if (!done) return value
    if (message.complete) return undefined
    throw new OutboundError('broken', 'the connection ended in the middle of the answer')
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const chunk = await next()
          if (!chunk) return controller.close()
          pace.count(chunk.length)
          controller.enqueue(chunk)
        } catch (error) {
          message.destroy()
          throw failure(error)
        }
      },
      cancel() {
        message.destroy()
      },
    },
    { highWaterMark: 0 },
  )
}
