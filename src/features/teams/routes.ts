import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { Unchanged, unchangedAnswer } from '../../http/answers.ts'
import { gate } from '../../http/gate.ts'
import { viewerOf } from '../../http/viewer.ts'
import { presentTeam, Team } from '../../wire/team.ts'
import { EditTeamOption } from './schema.ts'
import { deleteTeam, editTeam, loadTeams } from './service.ts'

const scope = 'organization'

/** One team, by its number. */
export const teamRoutes = (context: Context) =>
  new Elysia({ name: 'teams', prefix: '/teams/:id', detail: { tags: ['organization'] } })
    .use(gate(context))
    .get(
      '',
      async ({ actor, team, request, set }) => {
        const unchanged = unchangedAnswer(context, { actor, request, set }, [team.version])
        if (unchanged) return unchanged
        const { row, organization } = team
        const [shown] = await loadTeams(context.db, [{ team: row, organization }])
        return presentTeam(shown ?? { team: row, organization, units: {} }, viewerOf(context, actor))
      },
      {
        team: { scope },
        response: { 200: Team, 304: Unchanged },
        detail: { operationId: 'orgGetTeam', summary: 'A team' },
      },
    )
    .patch(
      '',
      async ({ actor, team, body }) =>
        presentTeam(await editTeam(context, { actor, team, option: body }), viewerOf(context, actor)),
      {
        team: { scope, role: 'owner' },
        body: EditTeamOption,
        response: { 200: Team },
        detail: { operationId: 'orgEditTeam', summary: 'Change a team; only what is given changes' },
      },
    )
    .delete(
      '',
      async ({ actor, team, set }) => {
        await deleteTeam(context, { actor, team })
        set.status = 204
      },
      {
        team: { scope, role: 'owner' },
        response: { 204: t.Void() },
        detail: { operationId: 'orgDeleteTeam', summary: 'Delete a team', 'x-refuses': [422] },
      },
    )
