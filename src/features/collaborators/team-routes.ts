import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { viewerOf } from '../../http/viewer.ts'
import { presentTeam, Team } from '../../wire/team.ts'
import { addTeamToRepository, getRepositoryTeam, listTeamsOf, removeTeamFromRepository } from './teams.ts'

const read = { scope: 'repository', login: true } as const
const change = { scope: 'repository', level: 'admin', evenArchived: true } as const

/** The teams that reach a repository. Wire: 405 where the owner is no organization. */
export const repositoryTeamRoutes = (context: Context) =>
  new Elysia({ name: 'repository-teams', prefix: '/repos/:owner/:repo/teams', detail: { tags: ['repository'] } })
    .use(gate(context))
    .get(
      '',
      async ({ actor, repo }) => {
        const teams = await listTeamsOf(context, repo, actor)
        return teams.map((team) => presentTeam(team, viewerOf(context, actor)))
      },
      {
        readRepo: read,
        response: { 200: t.Array(Team) },
        detail: { operationId: 'repoListTeams', summary: "List a repository's teams", 'x-refuses': [405] },
      },
    )
    .get(
      '/:team',
      async ({ actor, repo, params }) =>
        presentTeam(await getRepositoryTeam(context, { actor, repo, name: params.team }), viewerOf(context, actor)),
      {
        readRepo: read,
        response: { 200: Team },
        detail: { operationId: 'repoCheckTeam', summary: 'A team that reaches the repository', 'x-refuses': [405] },
      },
    )
    .put(
      '/:team',
      async ({ actor, repo, params, set }) => {
        await addTeamToRepository(context, { actor, repo, name: params.team })
        set.status = 204
      },
      {
        changeRepo: change,
        response: { 204: t.Void() },
        detail: { operationId: 'repoAddTeam', summary: 'Give a team access', 'x-refuses': [405, 422] },
      },
    )
    .delete(
      '/:team',
      async ({ actor, repo, params, set }) => {
        await removeTeamFromRepository(context, { actor, repo, name: params.team })
        set.status = 204
      },
      {
        changeRepo: change,
        response: { 204: t.Void() },
        detail: { operationId: 'repoDeleteTeam', summary: "Take a team's access back", 'x-refuses': [405, 422] },
      },
    )
