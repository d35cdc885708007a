import { Elysia, t } from 'elysia'
import type { RefRow } from '../../../db/schema/refs.ts'
import { Level } from '../../access/levels.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { Unchanged, unchangedAnswer } from '../../http/freshness.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery } from '../../http/query.ts'
import { decodeWildcard } from '../../http/wildcard.ts'
import { verifySignatures } from '../../signatures/verify.ts'
import { Branch, presentBranch } from '../../wire/branch.ts'
import { findNamesByEmail } from '../refs/people.ts'
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

interface Page {
  actor: Actor | undefined
  repo: RepositoryAccess
  rows: readonly RefRow[]
}

interface Loaded {
  /** Of all that the branches show. */
  versions: (string | number | boolean)[]
  branches: Branch[]
}

async function load(context: Context, { actor, repo, rows }: Page): Promise<Loaded> {
  const addresses = rows.flatMap(({ commit }) => (commit ? [commit.authorEmail, commit.committerEmail] : []))
  const [names, verdicts] = await Promise.all([
    findNamesByEmail(context.db, addresses),
    verifySignatures(
      context,
      actor,
      rows.map(({ commit }) => ({ ...commit, email: commit?.committerEmail ?? '' })),
    ),
  ])
  const mayWrite = repo.rights.level('repo.code') >= Level.write
  const shown = rows.flatMap(({ name, sha }, index) => [name, sha, JSON.stringify(verdicts[index])])
  const { htmlUrl, version } = repo
  return {
    versions: [version, mayWrite, ...shown, ...[...names].flat()],
    branches: rows.map((row, index) => presentBranch(row, { htmlUrl, mayWrite, names, verdict: verdicts[index] })),
  }
}

async function loadOne(context: Context, { row, ...page }: Omit<Page, 'rows'> & { row: RefRow }) {
  const { versions, branches } = await load(context, { ...page, rows: [row] })
  const [branch] = branches
  if (!branch) throw new Error('one row gives one branch')
  return { versions, branch }
}
