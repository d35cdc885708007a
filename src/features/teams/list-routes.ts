import { Elysia, t } from 'elysia'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import type { OrganizationAccess } from '../../http/organization-gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery, queryBoolean, queryText } from '../../http/query.ts'
import { viewerOf } from '../../http/viewer.ts'
import { presentTeam, Team } from '../../wire/team.ts'
import { CreateTeamOption, TeamSearchResults } from './schema.ts'
import { createTeam, loadTeams } from './service.ts'
import { listTeams, teamsOf, withMember } from './store.ts'

const member = { scope: 'organization', role: 'member' } as const

/** Owners see all teams, other members those that do not hide. */
const shownTeams = (actor: Actor | undefined, org: OrganizationAccess) => ({
  organizationId: org.row.id,
  ...(!org.isOwner && { shownTo: actor?.user.id ?? 0 }),
})

/** The teams of an organization and of oneself. */
export const teamListRoutes = (context: Context) =>
  new Elysia({ name: 'team-lists', detail: { tags: ['organization'] } })
    .use(gate(context))
    .get(
      '/orgs/:org/teams',
      async ({ actor, org, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const found = await listTeams(context.db, teamsOf(shownTeams(actor, org)), page)
        links(found.total)
        // Wire: lists within an organization do not repeat it.
        const shown = await loadTeams(context.db, found.rows)
        return shown.map(({ team, units }) => presentTeam({ team, units }, viewerOf(context, actor)))
      },
      {
        readOrg: member,
        query: t.Object(pageQuery),
        response: { 200: t.Array(Team) },
        detail: { operationId: 'orgListTeams', summary: "List an organization's teams", 'x-list': 'links' },
      },
    )
    .post(
      '/orgs/:org/teams',
      async ({ actor, org, body, status }) => {
        const made = await createTeam(context, { actor, organization: org.row, option: body })
        return status(201, presentTeam(made, viewerOf(context, actor)))
      },
      {
        changeOrg: { scope: 'organization', role: 'owner' },
        body: CreateTeamOption,
        response: { 201: Team },
        detail: { operationId: 'orgCreateTeam', summary: 'Create a team' },
      },
    )
    .get(
      '/orgs/:org/teams/search',
      async ({ actor, org, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const search = { text: query.q, inDescription: query.include_desc ?? true }
        const found = await listTeams(context.db, teamsOf({ ...shownTeams(actor, org), ...search }), page)
        links(found.total)
        const shown = await loadTeams(context.db, found.rows)
        return {
          ok: true,
          data: shown.map(({ team, units }) => presentTeam({ team, units }, viewerOf(context, actor))),
        }
      },
      {
        readOrg: member,
        query: t.Object({ ...pageQuery, q: queryText(), include_desc: queryBoolean() }),
        response: { 200: TeamSearchResults },
        detail: { operationId: 'teamSearch', summary: "Search an organization's teams", 'x-list': 'links' },
      },
    )
    .get(
      '/user/teams',
      async ({ actor, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const found = await listTeams(context.db, withMember(actor.user.id), page)
        links(found.total)
        const shown = await loadTeams(context.db, found.rows)
        return shown.map((team) => presentTeam(team, viewerOf(context, actor)))
      },
      {
        login: { scope: 'user', personal: true },
        query: t.Object(pageQuery),
        response: { 200: t.Array(Team) },
        detail: { operationId: 'userListTeams', summary: 'List your teams', tags: ['user'], 'x-list': 'links' },
      },
    )
