import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Context } from '../../context.ts'
import type { Archive, Client } from '../../git/model.ts'
import { hasCurrent } from '../../http/answers.ts'
import { answerHead, contentDisposition, readRange, streamed } from '../../http/download.ts'
import { getRevision } from '../commits/revision.ts'
import { orNotFound } from '../commits/service.ts'
import { archiveTag, MEDIA_TYPES, parseArchiveName } from './name.ts'

interface Asked {
  repo: RepositoryAccess
  /** The revision with the ending that says the form. */
  name: string
  paths: readonly string[]
  client: Client
}

/**
 * Sends an archive: the cached one, or the one that is being made, as it grows.
 * @throws Refusal 400 for an unknown form, 404 for an unknown revision or path, 416, 503 when Git has too much to do
 */
export async function serveArchive(
  context: Context,
  request: Request,
  { repo, name, paths, client }: Asked,
): Promise<Response> {
  const { ref, format } = parseArchiveName(name)
  const { commit } = await getRevision(context, repo, ref)
  const { id } = repo.repository
  // Wire: everything lies in one folder that is called as the repository, in lower case.
  const prefix = repo.repository.name.toLowerCase()
  const query = { revision: commit.sha, format, prefix, paths: cleanPaths(paths) }
  const etag = archiveTag(query)
  if (hasCurrent(request, etag)) return new Response(null, { status: 304, headers: { etag } })
  const headers = {
    'content-type': MEDIA_TYPES[format],
    'content-disposition': contentDisposition(
      'attachment',
      `${repo.repository.name}-${ref.replaceAll('/', '-')}.${format}`,
    ),
    'access-control-expose-headers': 'Content-Disposition',
    // Wire: package tools pin what they have downloaded by this address, which names the commit.
    link: `<${repo.apiUrl}/archive/${commit.sha}.${format}?rev=${commit.sha}>; rel="immutable"`,
    etag,
  }
  const cached = await context.git.findArchive(id, query)
  // Nobody makes an archive for its head.
  if (request.method === 'HEAD') return answerHead(request, cached?.size, headers)
  const { signal } = request
  const archive = cached ?? (await orNotFound(context.git.archive(id, query, { signal, client })))
  return send(request, archive, headers)
}

async function send(request: Request, { size, read }: Archive, head: { etag: string }): Promise<Response> {
  // Without a size no part of it can be named.
  if (size === undefined) return streamed(await orNotFound(read(undefined, request.signal)), { headers: head })
  const range = readRange(request, { size, etag: head.etag })
  const { start, end } = range ?? { start: 0, end: size }
  const headers = {
    ...head,
    'accept-ranges': 'bytes',
    'content-length': String(end - start),
    ...(range && { 'content-range': `bytes ${start}-${end - 1}/${size}` }),
  }
  return streamed(await read({ start, end }, request.signal), { status: range ? 206 : 200, headers })
}

const cleanPaths = (paths: readonly string[]): string[] =>
  paths.map((path) => path.replace(/^\/+|\/+$/g, '')).filter((path) => path !== '')
