import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { Unchanged, unchangedAnswer } from '../../http/answers.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { queryBoolean, queryInteger } from '../../http/query.ts'
import { decodeWildcard } from '../../http/wildcard.ts'
import { readPage } from '../../kernel/page.ts'
import { verifySignatures } from '../../signatures/verify.ts'
import {
  AnnotatedTag,
  GitBlobResponse,
  GitTreeResponse,
  presentEntry,
  presentReference,
  presentTag,
  Reference,
} from '../../wire/git-objects.ts'
import { MAX_BLOB_BYTES, TREES_PER_PAGE } from '../../wire/limits.ts'
import { getBlob } from './blobs.ts'
import { getAnnotatedTag, getTree, listGitRefs, readTreePage } from './objects.ts'

const read = { unit: 'repo.code', scope: 'repository' } as const

const treeQuery = t.Object({
  recursive: queryBoolean({ description: 'Whether to show folders in folders' }),
  page: queryInteger(),
  per_page: queryInteger(),
})

/** The objects of Git as they are. */
export const gitObjectRoutes = (context: Context) =>
  new Elysia({ name: 'git-objects', prefix: '/repos/:owner/:repo/git', detail: { tags: ['repository'] } })
    .use(gate(context))
    .get(
      '/trees/:sha',
      async ({ actor, repo, params, query, request, set }) => {
        const object = await getTree(context, repo, params.sha)
        const isRecursive = query.recursive ?? false
        const bounds = { defaultLimit: TREES_PER_PAGE, maxLimit: TREES_PER_PAGE }
        const page = readPage({ page: query.page, limit: query.per_page }, bounds)
        const unchanged = unchangedAnswer(context, { actor, request, set }, [
          repo.version,
          object.sha,
          isRecursive,
          page.number,
          page.limit,
        ])
        if (unchanged) return unchanged
        const tree = await readTreePage(context, repo, { object, isRecursive, page })
        paging(context, {}, { request, set }).total(tree.total)
        return {
          sha: tree.sha,
          url: `${repo.apiUrl}/git/trees/${tree.sha}`,
          tree: tree.entries.map((entry) => presentEntry(entry, repo.apiUrl)),
          truncated: tree.isTruncated,
          page: page.number,
          total_count: tree.total,
        }
      },
      {
        readRepo: read,
        query: treeQuery,
        response: { 200: GitTreeResponse, 304: Unchanged },
        detail: { operationId: 'GetTree', summary: 'Entries of a tree', 'x-list': 'total', 'x-refuses': [400, 413] },
      },
    )
    .get(
      '/blobs/:sha',
      async ({ actor, repo, params, request, set }) => {
        const blob = await getBlob(context, repo, params.sha)
        const unchanged = unchangedAnswer(context, { actor, request, set }, [repo.version, blob.sha])
        if (unchanged) return unchanged
        const content = await blob.base64(MAX_BLOB_BYTES)
        return {
          content,
          encoding: content === null ? null : 'base64',
          url: `${repo.apiUrl}/git/blobs/${blob.sha}`,
          sha: blob.sha,
          size: blob.size,
        }
      },
      {
        readRepo: read,
        response: { 200: GitBlobResponse, 304: Unchanged },
        detail: {
          operationId: 'GetBlob',
          summary: 'A blob. Content above the limit of the settings is left out',
          'x-refuses': [400],
        },
      },
    )
    .get(
      '/tags/:sha',
      async ({ actor, repo, params, request, set }) => {
        const tag = await getAnnotatedTag(context, repo, params.sha)
        const [verdict] = await verifySignatures(context, actor, [{ ...tag, email: tag.tagger?.email ?? '' }])
        const unchanged = unchangedAnswer(context, { actor, request, set }, [
          repo.version,
          tag.sha,
          JSON.stringify(verdict),
        ])
        if (unchanged) return unchanged
        return presentTag({ ...tag, verdict }, repo.apiUrl)
      },
      {
        readRepo: read,
        response: { 200: AnnotatedTag, 304: Unchanged },
        detail: {
          operationId: 'GetAnnotatedTag',
          summary: 'The object of an annotated tag',
          'x-refuses': [400],
        },
      },
    )
    .get(
      '/refs',
      async ({ actor, repo, request, set }) => {
        const refs = await listGitRefs(context, repo, '')
        const unchanged = unchangedAnswer(context, { actor, request, set }, [
          repo.version,
          ...refs.flatMap(({ name, sha }) => [name, sha]),
        ])
        if (unchanged) return unchanged
        return refs.map((ref) => presentReference(ref, repo.apiUrl))
      },
      {
        readRepo: read,
        response: { 200: t.Array(Reference), 304: Unchanged },
        detail: { operationId: 'repoListAllGitRefs', summary: 'All refs' },
      },
    )
    .get(
      '/refs/*',
      async ({ actor, repo, params, request, set }) => {
        const refs = await listGitRefs(context, repo, decodeWildcard(params))
        const unchanged = unchangedAnswer(context, { actor, request, set }, [
          repo.version,
          ...refs.flatMap(({ name, sha }) => [name, sha]),
        ])
        if (unchanged) return unchanged
        return refs.map((ref) => presentReference(ref, repo.apiUrl))
      },
      {
        readRepo: read,
        response: { 200: t.Array(Reference), 304: Unchanged },
        detail: {
          operationId: 'repoListGitRefs',
          summary: 'Refs whose name begins with this',
          'x-parameters': { '*': 'ref' },
        },
      },
    )
