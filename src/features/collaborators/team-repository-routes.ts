import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { cursorQuery } from '../../http/query.ts'
import { viewerOf } from '../../http/viewer.ts'
import { presentRepository, Repository } from '../../wire/repository.ts'
import { withRelatives } from '../repositories/load.ts'
import { listRepositories } from '../repository-search/list.ts'
import { presentPage } from '../repository-search/present.ts'
import { getReachedRepository, getTeamsRepository, grantTeam, revokeTeam } from './teams.ts'

const scope = 'organization'

/** The repositories that a team reaches. */
export const teamRepositoryRoutes = (context: Context) =>
  new Elysia({ name: 'team-repositories', prefix: '/teams/:id/repos', detail: { tags: ['organization'] } })
    .use(gate(context))
    .get(
      '',
      async ({ actor, team, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const filter = { teamId: team.row.id }
        const found = await listRepositories(context, actor, { filter, order: { by: 'name' }, page })
        links(found.total, found.next)
        return presentPage(context, actor, found)
      },
      {
        team: { scope },
        query: t.Object(cursorQuery),
        response: { 200: t.Array(Repository) },
        detail: { operationId: 'orgListTeamRepos', summary: "List a team's repositories", 'x-list': 'links' },
      },
    )
    .get(
      '/:org/:repo',
      async ({ actor, team, params }) => {
        const repo = await getReachedRepository(context, { actor, team, org: params.org, name: params.repo })
        return presentRepository(await withRelatives(context, actor, repo), viewerOf(context, actor))
      },
      {
        team: { scope },
        response: { 200: Repository },
        detail: { operationId: 'orgListTeamRepo', summary: 'A repository of a team' },
      },
    )
    .put(
      '/:org/:repo',
      async ({ actor, team, params, set }) => {
        const repo = await getTeamsRepository(context, { actor, team, org: params.org, name: params.repo })
        await grantTeam(context, { actor, repo, team: team.row })
        set.status = 204
      },
      {
        team: { scope },
        response: { 204: t.Void() },
        detail: { operationId: 'orgAddTeamRepository', summary: 'Give a team a repository' },
      },
    )
    .delete(
      '/:org/:repo',
      async ({ actor, team, params, set }) => {
        const repo = await getTeamsRepository(context, { actor, team, org: params.org, name: params.repo })
        await revokeTeam(context, { actor, repo, team: team.row })
        set.status = 204
      },
      {
        team: { scope },
        response: { 204: t.Void() },
        detail: {
          operationId: 'orgRemoveTeamRepository',
          summary: 'Take a repository from a team',
          'x-refuses': [422],
        },
      },
    )
