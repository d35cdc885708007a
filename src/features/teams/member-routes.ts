import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery } from '../../http/query.ts'
import { viewerOf } from '../../http/viewer.ts'
import { presentUser, User } from '../../wire/user.ts'
import { addTeamMember, getTeamMember, removeFromTeam } from './members.ts'
import { listTeamMembers } from './store.ts'

const scope = 'organization'

export const teamMemberRoutes = (context: Context) =>
  new Elysia({ name: 'team-members', prefix: '/teams/:id/members', detail: { tags: ['organization'] } })
    .use(gate(context))
    .get(
      '',
      async ({ actor, team, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const found = await listTeamMembers(context.db, team.row.id, page)
        links(found.total)
        return found.rows.map((user) => presentUser(user, viewerOf(context, actor)))
      },
      {
        team: { scope },
        query: t.Object(pageQuery),
        response: { 200: t.Array(User) },
        detail: { operationId: 'orgListTeamMembers', summary: "List a team's members", 'x-list': 'links' },
      },
    )
    .get(
      '/:username',
      async ({ actor, team, params }) =>
        presentUser(await getTeamMember(context, team, params.username), viewerOf(context, actor)),
      {
        team: { scope },
        response: { 200: User },
        detail: { operationId: 'orgListTeamMember', summary: 'A member of a team' },
      },
    )
    .put(
      '/:username',
      async ({ actor, team, params, request, set }) => {
        await addTeamMember(context, { actor, team, name: params.username, request })
        set.status = 204
      },
      {
        team: { scope, role: 'owner' },
        response: { 204: t.Void() },
        detail: { operationId: 'orgAddTeamMember', summary: 'Add somebody to a team', 'x-refuses': [307, 422] },
      },
    )
    .delete(
      '/:username',
      async ({ actor, team, params, set }) => {
        await removeFromTeam(context, { actor, team, name: params.username })
        set.status = 204
      },
      {
        team: { scope, role: 'owner' },
        response: { 204: t.Void() },
        detail: { operationId: 'orgRemoveTeamMember', summary: 'Take somebody out of a team', 'x-refuses': [422] },
      },
    )
