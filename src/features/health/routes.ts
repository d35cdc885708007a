import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { checkHealth } from './service.ts'

const Check = t.Object({
  status: t.Union([t.Literal('pass'), t.Literal('fail')]),
  time: t.String(),
  output: t.String(),
})

const Health = t.Object(
  {
    status: t.Union([t.Literal('pass'), t.Literal('fail')]),
    description: t.String(),
    checks: t.Record(t.String(), t.Array(Check)),
  },
  { $id: 'Health' },
)

/** For probes: 200 while the program can do its work, 503 with the same body while it cannot. */
export const healthRoutes = (context: Context) =>
  new Elysia({ name: 'health', detail: { hide: true } }).use(gate(context)).get(
    '/api/healthz',
    async ({ status }) => {
      const health = await checkHealth(context)
      return status(health.status === 'pass' ? 200 : 503, health)
    },
    { open: { beforeSignIn: true }, response: { 200: Health, 503: Health } },
  )
