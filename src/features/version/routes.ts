import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { version } from '../../version.ts'

const ServerVersion = t.Object({ version: t.String() }, { $id: 'ServerVersion' })

const answer = { version }

export const versionRoutes = (context: Context) =>
  new Elysia({ name: 'version', detail: { tags: ['miscellaneous'] } })
    .use(gate(context))
    .get('/version', () => answer, {
      open: { beforeSignIn: true },
      response: { 200: ServerVersion },
      detail: { operationId: 'getVersion', summary: 'The version of the service, in a form that clients can gate on' },
    })
