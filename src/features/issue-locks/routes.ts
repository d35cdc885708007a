import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { LockIssueOption } from './schema.ts'
import { setLock } from './service.ts'

const administer = { scope: 'issue', level: 'admin' } as const

export const issueLockRoutes = (context: Context) =>
  new Elysia({ name: 'issueLocks', prefix: '/repos/:owner/:repo/issues/:index/lock', detail: { tags: ['issue'] } })
    .use(gate(context))
    .put(
      '',
      async ({ actor, repo, issue: { issue }, body, set }) => {
        await setLock(context, { actor, repo, issue }, { isLocked: true, reason: body.lock_reason ?? '' })
        set.status = 204
      },
      {
        changeIssue: administer,
        body: LockIssueOption,
        response: { 204: t.Void() },
        detail: { operationId: 'issueLockIssue', summary: 'Lock the conversation of an issue for all but writers' },
      },
    )
    .delete(
      '',
      async ({ actor, repo, issue: { issue }, set }) => {
        await setLock(context, { actor, repo, issue }, { isLocked: false, reason: '' })
        set.status = 204
      },
      {
        changeIssue: administer,
        response: { 204: t.Void() },
        detail: { operationId: 'issueUnlockIssue', summary: 'Unlock the conversation of an issue' },
      },
    )
