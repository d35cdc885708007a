import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery, queryText } from '../../http/query.ts'
import { Milestone, presentMilestone } from '../../wire/milestone.ts'
import { CreateMilestoneOption, EditMilestoneOption } from './schema.ts'
import { createMilestone, deleteMilestone, editMilestone, getMilestone } from './service.ts'
import { listMilestones } from './store.ts'

/** They belong to issues and to pull requests: who may read neither does not see them. */
const unit = ['repo.issues', 'repo.pulls'] as const
const read = { unit, scope: 'issue' } as const
const write = { level: 'write', unit, scope: 'issue' } as const

export const milestoneRoutes = (context: Context) =>
  new Elysia({ name: 'milestones', prefix: '/repos/:owner/:repo/milestones', detail: { tags: ['issue'] } })
    .use(gate(context))
    .get(
      '',
      async ({ repo, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const isClosed = query.state === 'all' ? undefined : query.state === 'closed'
        const found = await listMilestones(context.db, repo.repository.id, { isClosed, name: query.name }, page)
        links(found.total)
        return found.rows.map(presentMilestone)
      },
      {
        readRepo: read,
        query: t.Object({ ...pageQuery, state: queryText(), name: queryText() }),
        response: { 200: t.Array(Milestone) },
        detail: {
          operationId: 'issueGetMilestonesList',
          summary: "List a repository's milestones: open ones, closed ones or all",
          'x-list': 'links',
        },
      },
    )
    .post(
      '',
      async ({ repo, body, status }) =>
        status(201, presentMilestone(await createMilestone(context, repo.repository.id, body))),
      {
        changeRepo: write,
        body: CreateMilestoneOption,
        response: { 201: Milestone },
        detail: { operationId: 'issueCreateMilestone', summary: 'Create a milestone' },
      },
    )
    .get(
      '/:id',
      async ({ repo, params }) => presentMilestone(await getMilestone(context, repo.repository.id, params.id)),
      {
        readRepo: read,
        response: { 200: Milestone },
        detail: { operationId: 'issueGetMilestone', summary: 'A milestone by number or title' },
      },
    )
    .patch(
      '/:id',
      async ({ repo, params, body }) => {
        const change = { idOrTitle: params.id, option: body }
        return presentMilestone(await editMilestone(context, repo.repository.id, change))
      },
      {
        changeRepo: write,
        body: EditMilestoneOption,
        response: { 200: Milestone },
        detail: { operationId: 'issueEditMilestone', summary: 'Change a milestone' },
      },
    )
    .delete(
      '/:id',
      async ({ repo, params, set }) => {
        await deleteMilestone(context, repo.repository.id, params.id)
        set.status = 204
      },
      {
        changeRepo: write,
        response: { 204: t.Void() },
        detail: { operationId: 'issueDeleteMilestone', summary: 'Delete a milestone' },
      },
    )
