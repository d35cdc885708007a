import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { Unchanged, unchangedAnswer } from '../../http/answers.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery } from '../../http/query.ts'
import { decodeWildcard } from '../../http/wildcard.ts'
import { Branch } from '../../wire/branch.ts'
import { load, loadOne } from './load.ts'
import { CreateBranchRepoOption, RenameBranchRepoOption, UpdateBranchRepoOption } from './schema.ts'
import { createBranch, deleteBranch, getBranch, renameBranch, updateBranch } from './service.ts'
import { listBranches } from './store.ts'

const read = { unit: 'repo.code', scope: 'repository' } as const
const write = { unit: 'repo.code', level: 'write', scope: 'repository' } as const
const named = { 'x-parameters': { '*': 'branch' } } as const

export const branchRoutes = (context: Context) =>
  new Elysia({ name: 'branches', prefix: '/repos/:owner/:repo/branches', detail: { tags: ['repository'] } })
    .use(gate(context))
    .get(
      '',
      async ({ actor, repo, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const { rows, total } = await listBranches(context.db, repo.repository.id, page)
        links(total)
        const { versions, branches } = await load(context, { actor, repo, rows })
        return unchangedAnswer(context, { actor, request, set }, [total, ...versions]) ?? branches
      },
      {
        readRepo: read,
        query: t.Object(pageQuery),
        response: { 200: t.Array(Branch), 304: Unchanged },
        detail: { operationId: 'repoListBranches', summary: "List a repository's branches", 'x-list': 'links' },
      },
    )
    .post(
      '',
      async ({ actor, repo, body, status }) => {
        const row = await createBranch(context, { actor, repo }, body)
        return status(201, (await loadOne(context, { actor, repo, row })).branch)
      },
      {
        changeRepo: write,
        body: CreateBranchRepoOption,
        response: { 201: Branch },
        detail: { operationId: 'repoCreateBranch', summary: 'Create a branch', 'x-refuses': [409] },
      },
    )
    .get(
      '/*',
      async ({ actor, repo, params, request, set }) => {
        const row = await getBranch(context, repo, decodeWildcard(params))
        const { versions, branch } = await loadOne(context, { actor, repo, row })
        return unchangedAnswer(context, { actor, request, set }, versions) ?? branch
      },
      {
        readRepo: read,
        response: { 200: Branch, 304: Unchanged },
        detail: { operationId: 'repoGetBranch', summary: 'A branch', ...named },
      },
    )
    .delete(
      '/*',
      async ({ actor, repo, params, set }) => {
        await deleteBranch(context, { actor, repo }, decodeWildcard(params))
        set.status = 204
      },
      {
        changeRepo: write,
        response: { 204: t.Void() },
        detail: { operationId: 'repoDeleteBranch', summary: 'Delete a branch', 'x-refuses': [409], ...named },
      },
    )
    .patch(
      '/*',
      async ({ actor, repo, params, body, set }) => {
        await renameBranch(context, { actor, repo }, { from: decodeWildcard(params), to: body.name })
        set.status = 204
      },
      {
        changeRepo: write,
        body: RenameBranchRepoOption,
        response: { 204: t.Void() },
        detail: { operationId: 'repoRenameBranch', summary: 'Rename a branch', 'x-refuses': [409], ...named },
      },
    )
    .put(
      '/*',
      async ({ actor, repo, params, body, set }) => {
        await updateBranch(context, { actor, repo }, { name: decodeWildcard(params), option: body })
        set.status = 204
      },
      {
        changeRepo: write,
        body: UpdateBranchRepoOption,
        response: { 204: t.Void() },
        detail: { operationId: 'repoUpdateBranch', summary: 'Move a branch', 'x-refuses': [409], ...named },
      },
    )
