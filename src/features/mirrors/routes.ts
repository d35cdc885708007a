import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { badRequest, notFound } from '../../kernel/errors.ts'
import { PullMirror, presentPullMirror } from '../../wire/mirror.ts'
import { enqueuePulls } from './enqueue.ts'
import { findPullMirror } from './store.ts'

export const mirrorRoutes = (context: Context) =>
  new Elysia({ name: 'mirrors', prefix: '/repos/:owner/:repo', detail: { tags: ['repository'] } })
    .use(gate(context))
    .get(
      '/mirror',
      async ({ repo }) => {
        const found = await findPullMirror(context.db, repo.repository.id)
        if (!found) throw notFound('the repository comes from no other server')
        return presentPullMirror(found.mirror, found.repository)
      },
      {
        changeRepo: { scope: 'repository', level: 'admin' },
        response: { 200: PullMirror },
        detail: { operationId: 'repoGetPullMirror', summary: 'How far a mirror or a migration is' },
      },
    )
    .post(
      '/mirror-sync',
      async ({ repo, set }) => {
        const found = await findPullMirror(context.db, repo.repository.id)
        if (!found) throw badRequest('Repository is not a mirror')
        await enqueuePulls(context.db, [repo.repository.id])
        set.status = 200
      },
      {
        changeRepo: { unit: 'repo.code', level: 'write', scope: 'repository' },
        response: { 200: t.Void() },
        detail: {
          operationId: 'repoMirrorSync',
          summary: 'Bring a mirror up to date, or try a migration again',
          'x-refuses': [400],
        },
      },
    )
