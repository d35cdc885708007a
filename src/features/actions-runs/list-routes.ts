import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { described, runLists } from './shared-routes.ts'

const member = { scope: 'organization', role: 'member' } as const
const mine = { scope: 'user', personal: true } as const

/** In the repositories of an organization whose actions its member may read. */
export const organizationRunListRoutes = (context: Context) => {
  const lists = runLists(context)
  return new Elysia({
    name: 'organization-run-lists',
    prefix: '/orgs/:org/actions',
    detail: { tags: ['organization'] },
  })
    .use(gate(context))
    .get(
      '/runs',
      ({ actor, org, query, request, set }) =>
        lists.runs({ reader: actor, ownerId: org.row.id }, { query, request, set }),
      { readOrg: member, ...described.runs('getOrgWorkflowRuns') },
    )
    .get(
      '/jobs',
      ({ actor, org, query, request, set }) =>
        lists.jobs({ reader: actor, ownerId: org.row.id }, { query, request, set }),
      { readOrg: member, ...described.jobs('getOrgWorkflowJobs') },
    )
}

/** In one's own repositories. */
export const userRunListRoutes = (context: Context) => {
  const lists = runLists(context)
  return new Elysia({ name: 'user-run-lists', prefix: '/user/actions', detail: { tags: ['user'] } })
    .use(gate(context))
    .get(
      '/runs',
      ({ actor, query, request, set }) =>
        lists.runs({ reader: actor, ownerId: actor.user.id }, { query, request, set }),
      { login: mine, ...described.runs('getUserWorkflowRuns') },
    )
    .get(
      '/jobs',
      ({ actor, query, request, set }) =>
        lists.jobs({ reader: actor, ownerId: actor.user.id }, { query, request, set }),
      { login: mine, ...described.jobs('getUserWorkflowJobs') },
    )
}

/** In all repositories. */
export const adminRunListRoutes = (context: Context) => {
  const lists = runLists(context)
  return new Elysia({ name: 'admin-run-lists', prefix: '/admin/actions', detail: { tags: ['admin'] } })
    .use(gate(context))
    .get('/runs', ({ actor, query, request, set }) => lists.runs({ reader: actor }, { query, request, set }), {
      admin: true,
      ...described.runs('listAdminWorkflowRuns'),
    })
    .get('/jobs', ({ actor, query, request, set }) => lists.jobs({ reader: actor }, { query, request, set }), {
      admin: true,
      ...described.jobs('listAdminWorkflowJobs'),
    })
}
