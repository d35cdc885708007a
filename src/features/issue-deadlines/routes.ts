import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { IssueDeadline, presentDeadline } from '../../wire/issue-deadline.ts'
import { EditDeadlineOption } from './schema.ts'
import { setDeadline } from './service.ts'

export const issueDeadlineRoutes = (context: Context) =>
  new Elysia({
    name: 'issueDeadlines',
    prefix: '/repos/:owner/:repo/issues/:index/deadline',
    detail: { tags: ['issue'] },
  })
    .use(gate(context))
    .post(
      '',
      async ({ actor, repo, issue: { issue }, body, status }) =>
        status(201, presentDeadline(await setDeadline(context, { actor, repo, issue }, body))),
      {
        changeIssue: { scope: 'issue', level: 'write' },
        body: EditDeadlineOption,
        response: { 201: IssueDeadline },
        detail: {
          operationId: 'issueEditIssueDeadline',
          summary: "Set an issue's deadline, the end of a day in UTC. Without `due_date` it has none",
        },
      },
    )
