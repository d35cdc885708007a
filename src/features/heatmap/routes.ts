import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { int64 } from '../../wire/fields.ts'
import { countContributions } from './store.ts'

const UserHeatmapData = t.Object(
  { timestamp: int64({ description: 'Unix time of the quarter of an hour' }), contributions: int64() },
  { $id: 'UserHeatmapData' },
)

export const heatmapRoutes = (context: Context) =>
  new Elysia({ name: 'heatmap', detail: { tags: ['user'] } }).use(gate(context)).get(
    '/users/:username/heatmap',
    // Async by name: Elysia sees no promise in a function that may also return a list, and would send it unawaited.
    async ({ actor, account }) => {
      const { row } = account
      const isPrivy = actor !== undefined && (actor.user.id === row.id || actor.user.isAdmin)
      return row.hideActivity && !isPrivy ? [] : countContributions(context, actor, row.id)
    },
    {
      readUser: { scope: 'user' },
      response: { 200: t.Array(UserHeatmapData) },
      detail: { operationId: 'userGetHeatmapData', summary: 'How much a user did in the last year' },
    },
  )
