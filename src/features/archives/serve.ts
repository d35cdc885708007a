import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Context } from '../../context.ts'
import { setIdleSeconds } from '../../http/connection.ts'
import { contentDisposition, readRange } from '../../http/download.ts'
import { hasCurrent } from '../../http/freshness.ts'
import { answerHead } from '../../http/head.ts'
import { streamed } from '../../http/streamed.ts'
import { getRevision } from '../commits/revision.ts'
import { orNotFound } from '../commits/service.ts'
import { archiveKey, findArchive, type KeptArchive, makeArchive } from './cache.ts'
import { MEDIA_TYPES, parseArchiveName } from './name.ts'

interface Asked {
  repo: RepositoryAccess
  /** The revision with the ending that says the form. */
  name: string
  paths: readonly string[]
}

/**
 * Sends an archive: the kept one, or the one that is being made, as it grows.
 * @throws Refusal 400 for an unknown form, 404 for an unknown revision or path, 416, 503 when Git has too much to do
 */
export async function serveArchive(
  context: Context,
  request: Request,
  { repo, name, paths }: Asked,
): Promise<Response> {
  const { ref, format } = parseArchiveName(name)
  const { commit } = await getRevision(context, repo, ref)
  const { id } = repo.repository
  // Wire: everything lies in one folder that is called as the repository, in lower case.
  const prefix = repo.repository.name.toLowerCase()
  const query = { repositoryId: id, commit: commit.sha, format, prefix, paths: cleanPaths(paths) }
  const etag = `"${archiveKey(query)}"`
  if (hasCurrent(request, etag)) return new Response(null, { status: 304, headers: { etag } })
  const headers = {
    'content-type': MEDIA_TYPES[format],
    'content-disposition': contentDisposition(
      'attachment',
      `${repo.repository.name}-${ref.replaceAll('/', '-')}.${format}`,
    ),
    'access-control-expose-headers': 'Content-Disposition',
    etag,
  }
  // Git may be silent for long before it has the first bytes of a large tree.
  setIdleSeconds(request, 0)
  const kept = await findArchive(context, query)
  if (!kept) {
    // Nobody makes an archive for its head.
    if (request.method === 'HEAD') return answerHead(request, undefined, headers)
    return streamed(await orNotFound(makeArchive(context, query, request.signal)), { headers })
  }
  return sendKept(request, kept, headers)
}

function sendKept(request: Request, { size, file }: KeptArchive, head: { etag: string }): Response {
  const range = readRange(request, { size, etag: head.etag })
  const { start, end } = range ?? { start: 0, end: size }
  const headers = {
    ...head,
    'accept-ranges': 'bytes',
    'content-length': String(end - start),
    ...(range && { 'content-range': `bytes ${start}-${end - 1}/${size}` }),
  }
  if (request.method === 'HEAD') return answerHead(request, size, headers)
  return streamed(file.slice(start, end), { status: range ? 206 : 200, headers })
}

const cleanPaths = (paths: readonly string[]): string[] =>
  paths.map((path) => path.replace(/^\/+|\/+$/g, '')).filter((path) => path !== '')
