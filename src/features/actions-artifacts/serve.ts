import type { Context } from '../../context.ts'
import { hasCurrent } from '../../http/answers.ts'
import { answerHead, fileHeaders, readRange, streamed } from '../../http/download.ts'
import { notFound } from '../../kernel/errors.ts'
import { findFinalized } from './store.ts'

/** Sends the archive, or a part of it. Who has a signed address asks. @throws Refusal 404 once it is deleted or expired, 416 */
export async function sendArtifact(context: Context, request: Request, id: number): Promise<Response> {
  const { db, objects, log } = context
  const row = await findFinalized(db, id)
  if (row?.storeKey == null || row.sizeBytes === null) throw notFound('artifact not found')
  const { storeKey, sizeBytes: size, sha256, name } = row
  const etag = `"${sha256}"`
  if (hasCurrent(request, etag)) return new Response(null, { status: 304, headers: { etag } })
  const range = readRange(request, { size, etag })
  // Wire: clients unpack it because of its type. Of one file it is not said, so that no browser runs it.
  const media = { type: row.isArchive ? 'application/zip' : 'application/octet-stream', isInline: false }
  const fileName = row.isArchive && !name.toLowerCase().endsWith('.zip') ? `${name}.zip` : name
  const headers = fileHeaders({ name: fileName, size, range, etag, media })
  if (request.method === 'HEAD') return answerHead(request, size, headers)
  const opened = await objects.open(storeKey, range)
  if (opened?.size !== size) {
    await opened?.content.cancel()
    log.error({ artifactId: id, size: opened?.size, wanted: size }, 'the bytes of an artifact are missing')
    throw notFound('artifact not found')
  }
  return streamed(opened.content, { status: range ? 206 : 200, headers })
}
