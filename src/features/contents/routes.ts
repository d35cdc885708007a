import { Elysia, t } from 'elysia'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { Unchanged, unchangedAnswer } from '../../http/answers.ts'
import { gate } from '../../http/gate.ts'
import { queryList, queryText } from '../../http/query.ts'
import { decodeWildcard } from '../../http/wildcard.ts'
import { badRequest } from '../../kernel/errors.ts'
import { ContentsExtResponse, ContentsResponse } from '../../wire/contents.ts'
import { answerFiles, readFileNames } from './batch.ts'
import type { Parts } from './load.ts'
import { GetFilesOptions } from './schema.ts'
import { getPlace, readContents } from './service.ts'

const read = { unit: 'repo.code', scope: 'repository' } as const
/** A folder may have more entries than one answer can. */
const large = { 'x-refuses': [413] } as const
const named = { 'x-parameters': { '*': 'filepath' }, ...large } as const

const INCLUDES = ['file_content', 'lfs_metadata', 'commit_metadata', 'commit_message'] as const

const refQuery = t.Object({ ref: queryText({ description: 'Branch, tag or commit; the default branch without it' }) })
const extQuery = t.Object({
  ...refQuery.properties,
  includes: queryList({ description: 'What is told beside names', enum: INCLUDES }),
})

const filesQuery = t.Object({
  ...refQuery.properties,
  body: queryText({ description: 'JSON with the names of the files: `{"files": ["a.txt"]}`' }),
})
const Files = t.Array(t.Nullable(ContentsResponse))

/** A file is answered as an object, a folder as the list of what is in it. */
const FileOrFolder = t.Union([ContentsResponse, t.Array(ContentsResponse)], { $id: 'FileOrFolderContents' })

/** Wire: a file is answered with its content and its last commit. */
const usual: Parts = { withContent: true, withLargeFile: true, withLastCommit: true, withMessage: false }

interface Asked {
  actor: Actor | undefined
  request: Request
  set: { headers: Record<string, string | number | undefined> }
}

export const contentsRoutes = (context: Context) =>
  new Elysia({ name: 'contents', prefix: '/repos/:owner/:repo', detail: { tags: ['repository'] } })
    .use(gate(context))
    .get(
      '/contents',
      async ({ actor, repo, query, request, set }) => {
        const asked = { path: '', ref: query.ref, parts: usual }
        const found = await answer(context, { actor, request, set }, { repo, ...asked })
        return found instanceof Response ? found : [found].flat()
      },
      {
        readRepo: read,
        query: refQuery,
        response: { 200: t.Array(ContentsResponse), 304: Unchanged },
        detail: { operationId: 'repoGetContentsList', summary: 'Files and folders at the root', ...large },
      },
    )
    .get(
      '/contents/*',
      ({ actor, repo, params, query, request, set }) => {
        const asked = { path: decodeWildcard(params), ref: query.ref, parts: usual }
        return answer(context, { actor, request, set }, { repo, ...asked })
      },
      {
        readRepo: read,
        query: refQuery,
        response: { 200: FileOrFolder, 304: Unchanged },
        detail: { operationId: 'repoGetContents', summary: 'A file, or the entries of a folder', ...named },
      },
    )
    .get(
      '/contents-ext',
      async ({ actor, repo, query, request, set }) => {
        const asked = { path: '', ref: query.ref, parts: readParts(query.includes) }
        return presentExt(await answer(context, { actor, request, set }, { repo, ...asked }))
      },
      {
        readRepo: read,
        query: extQuery,
        response: { 200: ContentsExtResponse, 304: Unchanged },
        detail: {
          operationId: 'getContentsExtOfRoot',
          summary: 'Files and folders at the root',
          'x-refuses': [400, 413],
        },
      },
    )
    .get(
      '/contents-ext/*',
      async ({ actor, repo, params, query, request, set }) => {
        const asked = { path: decodeWildcard(params), ref: query.ref, parts: readParts(query.includes) }
        return presentExt(await answer(context, { actor, request, set }, { repo, ...asked }))
      },
      {
        readRepo: read,
        query: extQuery,
        response: { 200: ContentsExtResponse, 304: Unchanged },
        detail: {
          operationId: 'repoGetContentsExt',
          summary: 'A file or the entries of a folder, with what is asked for of each',
          ...named,
          'x-refuses': [400, 413],
        },
      },
    )
    .get(
      '/file-contents',
      ({ actor, repo, query, request, set }) =>
        answerFiles(context, { actor, request, set }, { repo, ref: query.ref, names: readFileNames(query.body) }),
      {
        readRepo: read,
        query: filesQuery,
        response: { 200: Files, 304: Unchanged },
        detail: {
          operationId: 'repoGetFileContents',
          summary: 'Several files at once; null for those that are not there',
          'x-refuses': [400],
        },
      },
    )
    .post(
      '/file-contents',
      ({ actor, repo, query, body, request, set }) =>
        answerFiles(context, { actor, request, set }, { repo, ref: query.ref, names: body.files }),
      {
        readRepo: read,
        query: refQuery,
        body: GetFilesOptions,
        response: { 200: Files, 304: Unchanged },
        detail: {
          operationId: 'repoGetFileContentsPost',
          summary: 'Several files at once; null for those that are not there',
        },
      },
    )

interface Wanted {
  repo: RepositoryAccess
  path: string
  ref: string | undefined
  parts: Parts
}

/** It is 304, for a client that has it, before a file is read or a history walked. */
async function answer(
  context: Context,
  asked: Asked,
  { repo, parts, ...place }: Wanted,
): Promise<ContentsResponse | ContentsResponse[] | Response> {
  const found = await getPlace(context, repo, place)
  const { kind, commit } = found.revision
  const unchanged = unchangedAnswer(context, asked, [
    repo.version,
    kind,
    found.ref,
    commit.sha,
    found.path,
    JSON.stringify(parts),
  ])
  if (unchanged) return unchanged
  return readContents(context, found, { parts, signal: asked.request.signal })
}

/** @throws Refusal 400 for a word that is none of them */
function readParts(includes: readonly string[] = []): Parts {
  const unknown = includes.find((word) => !INCLUDES.some((known) => known === word))
  if (unknown !== undefined) throw badRequest(`unknown include option "${unknown}"`)
  return {
    withContent: includes.includes('file_content'),
    withLargeFile: includes.includes('lfs_metadata'),
    withLastCommit: includes.includes('commit_metadata'),
    withMessage: includes.includes('commit_message'),
  }
}

function presentExt(found: ContentsResponse | ContentsResponse[] | Response): ContentsExtResponse | Response {
  if (found instanceof Response) return found
  return Array.isArray(found) ? { dir_contents: found } : { file_contents: found }
}
