import { badRequest, Refusal, tooLarge } from '../../kernel/errors.ts'

/** A body of which Git may leave a part unread. A client that is too slow is ended by `http/request-body.ts`. */
export interface GitBody {
  /** Fails past the limit of bytes. Chunks are asked for one by one, so a slow reader slows the client. */
  stream: ReadableStream<Uint8Array>
  /** Resolves when everything has come. */
  end: Promise<void>
  /** Reads what Git has left. @throws Refusal 408 when it does not come */
  drain(): Promise<void>
}

/**
 * The body of a Git request, unzipped when the client zipped it.
 * @param maxBytes counted after unzipping
 * @throws Refusal 413 when the announced length is too much already, 415 for another encoding.
 */
export function openBody(request: Request, maxBytes: number): GitBody {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooMuch(maxBytes)
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() || 'identity'
  const isZipped = encoding === 'gzip' || encoding === 'x-gzip'
  if (!isZipped && encoding !== 'identity') throw new Refusal(415, `content encoding ${encoding} is not known`)
  const body: ReadableStream<Uint8Array<ArrayBuffer>> = request.body ?? new Blob([]).stream()
  if (!isZipped) return limited(body, maxBytes)
  const { readable, writable } = new DecompressionStream('gzip')
  // A broken zip, or a client that went away, fails `readable` as well, and its reader sees the error. What is left is read all the same.
  const rest = body
    .pipeTo(writable, { preventCancel: true })
    .catch(() => readOn(body.getReader()).catch(() => undefined))
  return limited(readable, maxBytes, rest)
}

const tooMuch = (maxBytes: number) => tooLarge(`more than ${maxBytes} bytes`)

/** Git acknowledges what the client has while it still reads, a megabyte at most. Who has more to say does not listen any more. */
const EARLY_BYTES = 4_000_000

/**
 * The answer of Git, begun when the client has sent everything. Many clients read nothing before, and a connection does not outlive its
 * answer for long: who is still sending would not see why Git has refused a pack early.
 * @throws Refusal 408 when the rest of the request does not come
 */
export async function afterBody(
  answer: ReadableStream<Uint8Array>,
  body: GitBody,
): Promise<ReadableStream<Uint8Array>> {
  const reader = answer.getReader()
  const over = body.end.then(() => undefined)
  const early: Promise<{ done: boolean; value?: Uint8Array }>[] = []
  try {
    for (let size = 0; ; ) {
      const next = reader.read()
      early.push(next)
      const got = await Promise.race([over, next])
      if (!got) break
      size += got.value?.length ?? 0
      if (!got.done && size < EARLY_BYTES) continue
      await body.drain()
      break
    }
  } catch (error) {
    void reader.cancel().catch(() => undefined)
    throw error
  }
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const { done, value } = await (early.shift() ?? reader.read())
    if (done || !value) controller.close()
    else controller.enqueue(value)
  }
  return new ReadableStream({ pull, cancel: (reason) => reader.cancel(reason) }, { highWaterMark: 0 })
}

/** @param rest ends when what was unzipped is read */
export function limited(stream: ReadableStream<Uint8Array>, maxBytes: number, rest?: Promise<void>): GitBody {
  const reader = stream.getReader()
  let size = 0
  const end = Promise.withResolvers<void>()
  let draining: Promise<void> | undefined
  const drain = () => {
    draining ??= readOn(reader).then(() => rest)
    return draining
  }
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read().catch((error) => {
          if (error instanceof Refusal) throw error
          throw badRequest('the body was broken off, or is no valid zip')
        })
        if (done) {
          end.resolve()
          return controller.close()
        }
        size += value.length
        if (size <= maxBytes) return controller.enqueue(value)
        controller.error(tooMuch(maxBytes))
        await reader.cancel()
      },
      // Not handed on: what is left has to be read.
      cancel: () => void drain().catch(() => undefined),
    },
    { highWaterMark: 0 },
  )
  return { stream: body, end: end.promise, drain }
}

/** A client that has sent nothing for so long will not send the rest. */
const STALL_MS = 3000

/** Reads to the end. @throws Refusal 408 when nothing comes any more */
async function readOn(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const hasMore = () =>
    new Promise<boolean>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Refusal(408, 'the rest of the request does not come')), STALL_MS)
      reader
        .read()
        .then(
          ({ done }) => resolve(!done),
          () => resolve(false),
        )
        .finally(() => clearTimeout(timer))
    })
  while (await hasMore());
}

/** Reads to the end and forgets: a client that still sends would not read the answer. */
export async function drainBody(body: ReadableStream<Uint8Array>): Promise<void> {
  for await (const _ of body);
}

/** Git over HTTP names its bodies; anything else is another kind of client, or a form on a foreign page. */
export function requireMediaType(request: Request, type: string): void {
  const sent = request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase()
  if (sent !== type) throw new Refusal(415, `the content type must be ${type}`)
}
