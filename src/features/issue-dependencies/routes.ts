import { Elysia, t } from 'elysia'
import { findIssue } from '../../access/issues.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import type { IssueAccess } from '../../http/issue-gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery } from '../../http/query.ts'
import { notFound } from '../../kernel/errors.ts'
import { Issue } from '../../wire/issue.ts'
import { presentElsewhere } from '../issues/elsewhere.ts'
import { IssueMeta } from './schema.ts'
import { addDependency, deleteDependency, getNamedIssue, requireDependencies } from './service.ts'
import { listLinked, type Side } from './store.ts'

const scope = 'issue'
const take = { scope, level: 'read' } as const

/** Wire: adding and taking away are both answered with 201 and the issue of the path. */
const changed = { body: IssueMeta, response: { 201: Issue } }

interface Request {
  actor: Actor
  own: IssueAccess
  body: IssueMeta
}

/** The same links from two sides: what an issue waits for, and what waits for it. */
export const issueDependencyRoutes = (context: Context) => {
  const change = async (apply: typeof addDependency, side: Side, { actor, own, body }: Request): Promise<Issue> => {
    requireDependencies(own.repo)
    const named = await getNamedIssue(context, actor, body)
    const isWaiting = side === 'dependencies'
    await apply(context, actor, { dependent: isWaiting ? own : named, dependency: isWaiting ? named : own })
    return presentAnew(own, actor)
  }
  /** As it is after the change. */
  const presentAnew = async ({ issue, repo: { repository, owner } }: IssueAccess, actor: Actor): Promise<Issue> => {
    const found = await findIssue(context.db, repository.id, String(issue.number))
    const place = { id: repository.id, name: repository.name, ownerName: owner.name }
    const [shown] = found ? await presentElsewhere(context, actor, [{ ...found, repository: place }]) : []
    if (!shown) throw notFound()
    return shown
  }
  return new Elysia({
    name: 'issueDependencies',
    prefix: '/repos/:owner/:repo/issues/:index',
    detail: { tags: ['issue'] },
  })
    .use(gate(context))
    .get(
      '/dependencies',
      async ({ actor, repo, issue: { issue }, query, request, set }) => {
        requireDependencies(repo)
        const { page, links } = paging(context, query, { request, set })
        const found = await listLinked(context, actor, { issue, side: 'dependencies', page })
        links(found.total)
        return presentElsewhere(context, actor, found.rows)
      },
      {
        readIssue: { scope },
        query: t.Object(pageQuery),
        response: { 200: t.Array(Issue) },
        detail: {
          operationId: 'issueListIssueDependencies',
          summary: 'List the issues that have to be closed before this one',
          'x-list': 'links',
        },
      },
    )
    .post(
      '/dependencies',
      async ({ actor, repo, issue, body, status }) => {
        const own = { ...issue, repo }
        return status(201, await change(addDependency, 'dependencies', { actor, own, body }))
      },
      {
        changeIssue: take,
        ...changed,
        detail: {
          operationId: 'issueCreateIssueDependencies',
          summary: 'Let an issue wait for another one',
          'x-refuses': [409],
        },
      },
    )
    .delete(
      '/dependencies',
      async ({ actor, repo, issue, body, status }) => {
        const own = { ...issue, repo }
        return status(201, await change(deleteDependency, 'dependencies', { actor, own, body }))
      },
      {
        changeIssue: take,
        ...changed,
        detail: {
          operationId: 'issueRemoveIssueDependencies',
          summary: 'Let an issue no longer wait for another one',
        },
      },
    )
    .get(
      '/blocks',
      async ({ actor, repo, issue: { issue }, query, request, set }) => {
        requireDependencies(repo)
        // Wire: this list comes in pages too, without a word about how many there are.
        const { page } = paging(context, query, { request, set })
        const found = await listLinked(context, actor, { issue, side: 'blocks', page })
        return presentElsewhere(context, actor, found.rows)
      },
      {
        readIssue: { scope },
        query: t.Object(pageQuery),
        response: { 200: t.Array(Issue) },
        detail: { operationId: 'issueListBlocks', summary: 'List the issues that wait for this one' },
      },
    )
    .post(
      '/blocks',
      async ({ actor, repo, issue, body, status }) => {
        const own = { ...issue, repo }
        return status(201, await change(addDependency, 'blocks', { actor, own, body }))
      },
      {
        changeIssue: take,
        ...changed,
        detail: {
          operationId: 'issueCreateIssueBlocking',
          summary: 'Let another issue wait for this one',
          'x-refuses': [409],
        },
      },
    )
    .delete(
      '/blocks',
      async ({ actor, repo, issue, body, status }) => {
        const own = { ...issue, repo }
        return status(201, await change(deleteDependency, 'blocks', { actor, own, body }))
      },
      {
        changeIssue: take,
        ...changed,
        detail: {
          operationId: 'issueRemoveIssueBlocking',
          summary: 'Let another issue no longer wait for this one',
        },
      },
    )
}
