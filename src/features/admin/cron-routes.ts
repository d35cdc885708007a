import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery } from '../../http/query.ts'
import { listCronTasks, runCronTaskNow } from '../../jobs/cron-tasks.ts'
import { Cron, presentCron } from '../../wire/cron.ts'

/** The periodic tasks: what they are, when they run, and a way to run one now. */
export const cronRoutes = (context: Context) =>
  new Elysia({ name: 'admin-cron', prefix: '/admin/cron', detail: { tags: ['admin'] } })
    .use(gate(context))
    .get(
      '',
      async ({ query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const tasks = await listCronTasks(context)
        total(tasks.length)
        return tasks.slice(page.offset, page.offset + page.limit).map(presentCron)
      },
      {
        admin: true,
        query: t.Object(pageQuery),
        response: { 200: t.Array(Cron) },
        detail: { operationId: 'adminCronList', summary: 'List the periodic tasks', 'x-list': 'total' },
      },
    )
    .post(
      '/:task',
      async ({ actor, params, set }) => {
        await runCronTaskNow(context, params.task)
        context.log.info({ task: params.task, by: actor.user.name }, 'a periodic task is run by hand')
        set.status = 204
      },
      {
        admin: true,
        response: { 204: t.Void() },
        detail: { operationId: 'adminCronRun', summary: 'Run a periodic task soon' },
      },
    )
