import type { AttachmentRow } from '../../../db/schema/attachments.ts'
import type { Context } from '../../context.ts'
import { hasCurrent } from '../../http/answers.ts'
import { answerHead, fileHeaders, readRange, streamed } from '../../http/download.ts'
import { noFile } from './no-file.ts'
import { keyOf } from './objects.ts'
import { countDownload } from './store.ts'

/**
 * Sends the file. Only pictures are shown in place, and texts that somebody reads beside an issue; types are found by looking at the
 * bytes, and none of these can run.
 * @throws Refusal 404 where its bytes are lost, 416
 */
export async function serveAttachment(context: Context, request: Request, row: AttachmentRow): Promise<Response> {
  const { db, objects, log } = context
  const { id, uuid, name, size, sha256, mediaType: type } = row
  const isInline = type.startsWith('image/') || (row.releaseId === null && type.startsWith('text/plain'))
  const etag = `"${sha256}"`
  if (hasCurrent(request, etag)) return new Response(null, { status: 304, headers: { etag } })
  const range = readRange(request, { size, etag })
  const headers = fileHeaders({ name, size, range, etag, media: { type, isInline } })
  if (request.method === 'HEAD') return answerHead(request, size, headers)
  const opened = await objects.open(keyOf(uuid), range)
  if (opened?.size !== size) {
    await opened?.content.cancel()
    // It may have been deleted at this very moment.
    log.error({ attachmentId: id, size: opened?.size, wanted: size }, 'the bytes of a file are missing')
    throw noFile()
  }
  // The parts of one download are one.
  if (!range || range.start === 0) await countDownload(db, id)
  return streamed(opened.content, { status: range ? 206 : 200, headers })
}
