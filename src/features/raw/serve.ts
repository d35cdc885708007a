import type { Context } from '../../context.ts'
import type { TreeEntry } from '../../git/model.ts'
import { setIdleSeconds } from '../../http/connection.ts'
import { type ByteRange, contentDisposition, readRange, sliceStream } from '../../http/download.ts'
import { hasCurrent } from '../../http/freshness.ts'
import { answerHead } from '../../http/head.ts'
import { SNIFFED_BYTES, sniffMediaType } from '../../http/media-type.ts'
import { streamed } from '../../http/streamed.ts'
import { notFound } from '../../kernel/errors.ts'

/** What a browser may do with a stranger's file: show it, and nothing else. */
const SANDBOX = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

/**
 * Sends a file of a repository as it is, from Git to the client without gathering it. The tag is the blob's id, so it stays
 * right on every branch.
 * @throws Refusal 404 for folders and submodules, 416
 */
export async function serveFile(
  { git }: Context,
  request: Request,
  { repositoryId, entry }: { repositoryId: number; entry: TreeEntry },
): Promise<Response> {
  if (entry.kind === 'folder' || entry.kind === 'submodule') throw notFound()
  const etag = `"${entry.sha}"`
  if (hasCurrent(request, etag)) return new Response(null, { status: 304, headers: { etag } })
  const { size, stream } = await git.openBlob(repositoryId, entry.sha, { signal: request.signal })
  let whole = stream
  try {
    const range = readRange(request, { size, etag })
    const peeked = await peek(stream)
    whole = peeked.stream
    const headers = headersOf({ entry, size, range, head: peeked.head })
    if (request.method === 'HEAD') {
      await whole.cancel()
      return answerHead(request, size, headers)
    }
    setIdleSeconds(request, 0)
    if (!range) return streamed(whole, { headers })
    return streamed(sliceStream(whole, range), { status: 206, headers })
  } catch (error) {
    // Locked: it failed while its beginning was read, and that was its end.
    if (!whole.locked) await whole.cancel()
    throw error
  }
}

interface Shown {
  entry: TreeEntry
  size: number
  range: ByteRange | undefined
  head: Uint8Array
}

function headersOf({ entry, size, range, head }: Shown): Record<string, string> {
  const { type, isInline } = sniffMediaType(head)
  return {
    'content-type': type,
    'content-disposition': contentDisposition(isInline ? 'inline' : 'attachment', entry.name),
    'access-control-expose-headers': 'Content-Disposition',
    // Bun keeps it for short files and for HEAD; what comes in many pieces it sends in chunks, which have no length.
    'content-length': String(range ? range.end - range.start : size),
    ...(range && { 'content-range': `bytes ${range.start}-${range.end - 1}/${size}` }),
    'accept-ranges': 'bytes',
    'content-security-policy': SANDBOX,
    'x-content-type-options': 'nosniff',
    etag: `"${entry.sha}"`,
  }
}

/** The first bytes, and a stream that has them still. */
async function peek(
  stream: ReadableStream<Uint8Array>,
): Promise<{ head: Uint8Array; stream: ReadableStream<Uint8Array> }> {
  const reader = stream.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  let isDone = false
  while (length < SNIFFED_BYTES && !isDone) {
    const { done, value } = await reader.read()
    isDone = done
    if (value) chunks.push(value)
    length += value?.length ?? 0
  }
  const first = Buffer.concat(chunks)
  const rest = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (first.length > 0) controller.enqueue(first)
        if (isDone) controller.close()
      },
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
  return { head: first.subarray(0, SNIFFED_BYTES), stream: rest }
}
