import { Elysia, t } from 'elysia'
import type { RefRow } from '../../../db/schema/refs.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Context } from '../../context.ts'
import { Unchanged, unchangedAnswer } from '../../http/answers.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery } from '../../http/query.ts'
import { decodeWildcard } from '../../http/wildcard.ts'
import { presentTag, Tag } from '../../wire/tag.ts'
import { loadTags } from './load.ts'
import { CreateTagOption } from './schema.ts'
import { createTag, deleteTag, getTag } from './service.ts'
import { listTags } from './store.ts'

const read = { unit: 'repo.code', scope: 'repository' } as const
const write = { unit: 'repo.code', level: 'write', scope: 'repository' } as const
const named = { 'x-parameters': { '*': 'tag' } } as const

export const tagRoutes = (context: Context) =>
  new Elysia({ name: 'tags', prefix: '/repos/:owner/:repo/tags', detail: { tags: ['repository'] } })
    .use(gate(context))
    .get(
      '',
      async ({ actor, repo, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const found = await listTags(context.db, repo.repository.id, page)
        total(found.total)
        const shown = found.rows.flatMap(({ name, sha }) => [name, sha])
        const unchanged = unchangedAnswer(context, { actor, request, set }, [repo.version, found.total, ...shown])
        return unchanged ?? present(context, repo, found.rows)
      },
      {
        readRepo: read,
        query: t.Object(pageQuery),
        response: { 200: t.Array(Tag), 304: Unchanged },
        detail: { operationId: 'repoListTags', summary: "List a repository's tags", 'x-list': 'total' },
      },
    )
    .post(
      '',
      async ({ actor, repo, body, status }) => {
        const row = await createTag(context, { actor, repo }, body)
        return status(201, await presentOne(context, repo, row))
      },
      {
        changeRepo: write,
        body: CreateTagOption,
        response: { 201: Tag },
        detail: { operationId: 'repoCreateTag', summary: 'Create a tag', 'x-refuses': [409] },
      },
    )
    .get(
      '/*',
      async ({ actor, repo, params, request, set }) => {
        const row = await getTag(context, repo, decodeWildcard(params))
        const unchanged = unchangedAnswer(context, { actor, request, set }, [repo.version, row.name, row.sha])
        return unchanged ?? presentOne(context, repo, row)
      },
      {
        readRepo: read,
        response: { 200: Tag, 304: Unchanged },
        detail: { operationId: 'repoGetTag', summary: 'A tag', ...named },
      },
    )
    .delete(
      '/*',
      async ({ actor, repo, params, set }) => {
        await deleteTag(context, { actor, repo }, decodeWildcard(params))
        set.status = 204
      },
      {
        changeRepo: write,
        response: { 204: t.Void() },
        detail: { operationId: 'repoDeleteTag', summary: 'Delete a tag', 'x-refuses': [409], ...named },
      },
    )

async function present(context: Context, repo: RepositoryAccess, rows: readonly RefRow[]): Promise<Tag[]> {
  const shown = await loadTags(context, repo.repository.id, rows)
  return shown.map((tag) => presentTag(tag, repo))
}

async function presentOne(context: Context, repo: RepositoryAccess, row: RefRow): Promise<Tag> {
  const [tag] = await present(context, repo, [row])
  if (!tag) throw new Error('one row gives one tag')
  return tag
}
