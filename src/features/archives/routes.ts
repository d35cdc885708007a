import { Elysia, t } from 'elysia'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { FileBody } from '../../http/download.ts'
import { gate } from '../../http/gate.ts'
import { gitClient } from '../../http/git-gate.ts'
import { queryList } from '../../http/query.ts'
import { decodeWildcard } from '../../http/wildcard.ts'
import { MEDIA_TYPES } from './name.ts'
import { serveArchive } from './serve.ts'

const read = { unit: 'repo.code', scope: 'repository' } as const
const query = t.Object({ path: queryList({ description: 'Only these files and folders' }) })

export const archiveRoutes = (context: Context) =>
  new Elysia({ name: 'archives', prefix: '/repos/:owner/:repo', detail: { tags: ['repository'] } })
    .use(gate(context))
    .get(
      '/archive/*',
      ({ actor, repo, params, query, request }) =>
        serve(context, request, { actor, repo, params, paths: query.path ?? [] }),
      {
        readRepo: read,
        query,
        response: { 200: FileBody, 206: FileBody },
        detail: {
          operationId: 'repoGetArchive',
          summary: 'The files of a branch, tag or commit as `.zip` or `.tar.gz`',
          'x-parameters': { '*': 'archive' },
          'x-pinned': true,
          'x-produces': Object.values(MEDIA_TYPES),
          'x-refuses': [400, 413, 416],
        },
      },
    )

/** The address that pages and package tools use: `/owner/name/archive/main.tar.gz`. */
export const archivePages = (context: Context) =>
  new Elysia({ name: 'archive-pages', prefix: '/:owner/:repo', detail: { hide: true } })
    .use(gate(context))
    .get(
      '/archive/*',
      ({ actor, repo, params, request }) => serve(context, request, { actor, repo, params, paths: [] }),
      { readRepo: read },
    )

const serve = (context: Context, request: Request, { actor, repo, params, paths }: Asked): Promise<Response> => {
  const client = gitClient(context, request, actor)
  return serveArchive(context, request, { repo, name: decodeWildcard(params), paths, client })
}

interface Asked {
  actor: Actor | undefined
  repo: RepositoryAccess
  params: { '*': string }
  paths: readonly string[]
}
