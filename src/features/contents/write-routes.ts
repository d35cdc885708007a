import { Elysia } from 'elysia'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Context } from '../../context.ts'
import type { FilesCommitted } from '../../git/model.ts'
import { gate } from '../../http/gate.ts'
import { decodeWildcard } from '../../http/wildcard.ts'
import { invalid } from '../../kernel/errors.ts'
import type { ContentsResponse } from '../../wire/contents.ts'
import { FileDeleteResponse, FileResponse, FilesResponse, presentFileCommit } from '../../wire/file-commit.ts'
import { findVerdicts } from '../commits/verdicts.ts'
import { BRANCHES } from '../refs/names.ts'
import {
  ApplyDiffPatchFileOptions,
  ChangeFilesOptions,
  CreateFileOptions,
  DeleteFileOptions,
  deleteFileQuery,
  UpdateFileOptions,
} from './schema.ts'
import { readFiles } from './service.ts'
import { applyPatch, changeFiles, type Subject } from './write.ts'

const write = { unit: 'repo.code', level: 'write', scope: 'repository' } as const
const named = { 'x-parameters': { '*': 'filepath' } } as const
const refuses = [409] as const

/** Every route here makes one commit on a branch, as a push would. */
export const contentsWriteRoutes = (context: Context) =>
  new Elysia({ name: 'contents-write', prefix: '/repos/:owner/:repo/contents', detail: { tags: ['repository'] } })
    .use(gate(context))
    .post(
      '',
      async ({ actor, repo, body, status }) => {
        const made = await changeFiles(context, { actor, repo }, { option: body, operations: body.files })
        const paths = body.files.map(({ path }) => path)
        return status(201, {
          files: await written(context, repo, { made, paths }),
          ...(await present(context, { actor, repo }, made)),
        })
      },
      {
        changeRepo: write,
        body: ChangeFilesOptions,
        response: { 201: FilesResponse },
        detail: { operationId: 'repoChangeFiles', summary: 'Change several files in one commit', 'x-refuses': refuses },
      },
    )
    .post(
      '/*',
      async ({ actor, repo, params, body, status }) => {
        const operation = { operation: 'create' as const, path: decodeWildcard(params), content: body.content }
        const made = await changeFiles(context, { actor, repo }, { option: body, operations: [operation] })
        return status(201, await presentFile(context, { actor, repo }, { made, path: operation.path }))
      },
      {
        changeRepo: write,
        body: CreateFileOptions,
        response: { 201: FileResponse },
        detail: { operationId: 'repoCreateFile', summary: 'Create a file', 'x-refuses': refuses, ...named },
      },
    )
    .put(
      '/*',
      async ({ actor, repo, params, body, status }) => {
        const { content, sha, from_path } = body
        const isNew = !sha && !from_path
        if (from_path && !sha) throw invalid('a SHA or commit ID must be provided when updating a file', 'sha')
        const path = decodeWildcard(params)
        const operation = {
          operation: isNew ? ('create' as const) : ('update' as const),
          path,
          content,
          sha,
          from_path,
        }
        const made = await changeFiles(context, { actor, repo }, { option: body, operations: [operation] })
        return status(isNew ? 201 : 200, await presentFile(context, { actor, repo }, { made, path }))
      },
      {
        changeRepo: write,
        body: UpdateFileOptions,
        response: { 200: FileResponse, 201: FileResponse },
        detail: {
          operationId: 'repoUpdateFile',
          summary: 'Update, move or create a file',
          'x-refuses': refuses,
          ...named,
        },
      },
    )
    .delete(
      '/*',
      async ({ actor, repo, params, query, body }) => {
        const option = { ...query, ...body }
        if (!option.sha) throw invalid('Required', 'sha')
        const operation = { operation: 'delete' as const, path: decodeWildcard(params), sha: option.sha }
        const made = await changeFiles(context, { actor, repo }, { option, operations: [operation] })
        return { content: null, ...(await present(context, { actor, repo }, made)) }
      },
      {
        changeRepo: write,
        query: deleteFileQuery,
        body: DeleteFileOptions,
        response: { 200: FileDeleteResponse },
        detail: { operationId: 'repoDeleteFile', summary: 'Delete a file', 'x-refuses': refuses, ...named },
      },
    )

/** A patch is applied as `git apply` does, without a work tree. */
export const patchRoutes = (context: Context) =>
  new Elysia({ name: 'diffpatch', prefix: '/repos/:owner/:repo', detail: { tags: ['repository'] } })
    .use(gate(context))
    .post(
      '/diffpatch',
      async ({ actor, repo, body, status }) => {
        const { content: patch, ...option } = body
        const made = await applyPatch(context, { actor, repo }, { option, patch })
        return status(201, { content: null, ...(await present(context, { actor, repo }, made)) })
      },
      {
        changeRepo: write,
        body: ApplyDiffPatchFileOptions,
        response: { 201: FileResponse },
        detail: { operationId: 'repoApplyDiffPatch', summary: 'Apply a patch', 'x-refuses': [...refuses, 413] },
      },
    )

/** The files as the commit has left them; null for those that are gone. */
function written(
  context: Context,
  repo: RepositoryAccess,
  { made, paths }: { made: FilesCommitted; paths: readonly string[] },
): Promise<(ContentsResponse | null)[]> {
  const name = made.ref.slice(BRANCHES.length)
  const revision = { kind: 'branch' as const, name, commit: made.commit }
  return readFiles(context, { repo, revision, ref: name }, { paths, isJustWritten: true })
}

async function presentFile(
  context: Context,
  subject: Subject,
  { made, path }: { made: FilesCommitted; path: string },
): Promise<FileResponse> {
  const [content] = await written(context, subject.repo, { made, paths: [path] })
  return { content: content ?? null, ...(await present(context, subject, made)) }
}

/** The commit, with the verdict on the signature that it may have got. */
async function present(context: Context, { actor, repo }: Subject, { commit }: FilesCommitted) {
  const verdicts = await findVerdicts(context, actor, [commit])
  return presentFileCommit({ ...commit, verdict: verdicts.get(commit.sha) }, repo)
}
