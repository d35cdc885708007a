import type { Context } from '../../context.ts'
import { hasCurrent } from '../../http/answers.ts'
import { answerHead, readRange, streamed } from '../../http/download.ts'
import type { LfsAccess } from './gate.ts'
import { getObject, openObject } from './objects.ts'

/** Sends an object of the repository, or a part of it. @throws Refusal 404, 410 where the store has lost it, 416 */
export async function sendObject(
  context: Context,
  request: Request,
  { repo, oid }: { repo: LfsAccess['repo']; oid: string },
): Promise<Response> {
  const found = await getObject(context.db, repo.repository.id, oid)
  const etag = `"${oid}"`
  if (hasCurrent(request, etag)) return new Response(null, { status: 304, headers: { etag } })
  const range = readRange(request, { size: found.sizeBytes, etag })
  const headers = {
    'content-type': 'application/octet-stream',
    'content-length': String(range ? range.end - range.start : found.sizeBytes),
    ...(range && { 'content-range': `bytes ${range.start}-${range.end - 1}/${found.sizeBytes}` }),
    'accept-ranges': 'bytes',
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    etag,
  }
  if (request.method === 'HEAD') return answerHead(request, found.sizeBytes, headers)
  const { content } = await openObject(context, found, range)
  return streamed(content, { status: range ? 206 : 200, headers })
}
