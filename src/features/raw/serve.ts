import type { Context } from '../../context.ts'
import type { Client, TreeEntry } from '../../git/model.ts'
import { hasCurrent } from '../../http/answers.ts'
import { answerHead, fileHeaders, readRange, streamed } from '../../http/download.ts'
import { SNIFFED_BYTES, sniffMediaType } from '../../http/media-type.ts'
import { notFound } from '../../kernel/errors.ts'

/**
 * Sends a file of a repository as it is. The ETag is the blob's id, so it is right on every branch.
 * @throws Refusal 404 for folders and submodules, 416
 */
export async function serveFile(
  { git }: Context,
  request: Request,
  { repositoryId, entry, client }: { repositoryId: number; entry: TreeEntry; client: Client },
): Promise<Response> {
  if (entry.kind === 'folder' || entry.kind === 'submodule') throw notFound()
  const etag = `"${entry.sha}"`
  if (hasCurrent(request, etag)) return new Response(null, { status: 304, headers: { etag } })
  const { signal } = request
  const { size, read } = await git.openBlob(repositoryId, entry.sha, { signal, client })
  const range = readRange(request, { size, etag })
  // Before the beginning is looked at: while somebody reads, git goes on.
  const body = await read(range, signal)
  try {
    const beginning = { start: 0, end: Math.min(size, SNIFFED_BYTES) }
    const head = await new Response(await read(beginning, signal)).bytes()
    const headers = fileHeaders({ name: entry.name, media: sniffMediaType(head), size, range, etag })
    if (request.method !== 'HEAD') return streamed(body, { status: range ? 206 : 200, headers })
    await body.cancel()
    return answerHead(request, size, headers)
  } catch (error) {
    await body.cancel()
    throw error
  }
}
