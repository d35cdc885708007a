import { Elysia, t } from 'elysia'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { FileBody } from '../../http/download.ts'
import { gate } from '../../http/gate.ts'
import { gitClient } from '../../http/git-gate.ts'
import { BINARY, SNIFFED_TYPES } from '../../http/media-type.ts'
import { queryText } from '../../http/query.ts'
import { decodeWildcard } from '../../http/wildcard.ts'
import { notFound, Refusal } from '../../kernel/errors.ts'
import { getRevision } from '../commits/revision.ts'
import { serveFile, serveMedia } from './serve.ts'
import { splitAddress, splitRevision } from './web-address.ts'

const read = { unit: 'repo.code', scope: 'repository' } as const
const query = t.Object({ ref: queryText({ description: 'Branch, tag or commit; the default branch without it' }) })
const notes = {
  'x-parameters': { '*': 'filepath' },
  'x-produces': [BINARY, ...SNIFFED_TYPES],
  'x-refuses': [416],
} as const
const mediaNotes = { ...notes, 'x-refuses': [410, 416] } as const

/** Files as they are. A symbolic link is sent as the path that it holds, never followed. `media` sends what a pointer of Git LFS stands for. */
export const rawRoutes = (context: Context) =>
  new Elysia({ name: 'raw', prefix: '/repos/:owner/:repo', detail: { tags: ['repository'] } })
    .use(gate(context))
    .get(
      '/raw/*',
      ({ actor, repo, params, query, request }) =>
        serveAsked(context, request, { actor, repo, path: decodeWildcard(params), send: serveFile, ...query }),
      {
        readRepo: read,
        query,
        response: { 200: FileBody, 206: FileBody },
        detail: { operationId: 'repoGetRawFile', summary: 'A file as it is', ...notes },
      },
    )
    .get(
      '/media/*',
      ({ actor, repo, params, query, request }) =>
        serveAsked(context, request, { actor, repo, path: decodeWildcard(params), send: serveMedia, ...query }),
      {
        readRepo: read,
        query,
        response: { 200: FileBody, 206: FileBody },
        detail: {
          operationId: 'repoGetRawFileOrLFS',
          summary: 'A file as it is, or what a pointer of large file storage stands for',
          ...mediaNotes,
        },
      },
    )

/** The addresses that `download_url` names: `/owner/name/raw/branch/main/path`. */
export const rawPages = (context: Context) =>
  new Elysia({ name: 'raw-pages', prefix: '/:owner/:repo', detail: { hide: true } })
    .use(gate(context))
    .get(
      '/raw/*',
      ({ actor, repo, params, request }) => servePage(context, request, { actor, repo, params, send: serveFile }),
      { readRepo: read },
    )
    .get(
      '/media/*',
      ({ actor, repo, params, request }) => servePage(context, request, { actor, repo, params, send: serveMedia }),
      { readRepo: read },
    )

async function servePage(
  context: Context,
  request: Request,
  { params, ...asked }: Pick<File, 'actor' | 'repo' | 'send'> & { params: { '*': string } },
): Promise<Response> {
  return serve(context, request, { ...asked, ...(await splitAddress(context, asked.repo, decodeWildcard(params))) })
}

/** Wire: older clients put the revision before the path, as in `raw/main/a.txt`; what the default branch has comes first. */
async function serveAsked(context: Context, request: Request, file: File): Promise<Response> {
  try {
    return await serve(context, request, file)
  } catch (error) {
    const isMissing = error instanceof Refusal && error.status === 404
    const older = isMissing && file.ref === undefined ? await splitRevision(context, file.repo, file.path) : undefined
    if (!older) throw error
    return serve(context, request, { ...file, ...older })
  }
}

interface File {
  actor: Actor | undefined
  repo: RepositoryAccess
  path: string
  ref?: string | undefined
  /** With or without a look at Git LFS. */
  send: typeof serveFile
}

async function serve(context: Context, request: Request, { actor, repo, path, ref, send }: File): Promise<Response> {
  const { commit } = await getRevision(context, repo, ref)
  const { id: repositoryId } = repo.repository
  const entry = await context.git.findEntry(repositoryId, commit.tree, path.replace(/^\/+|\/+$/g, ''))
  if (!entry) throw notFound()
  const client = gitClient(context, request, actor)
  return send(context, request, { repositoryId, entry, client })
}
