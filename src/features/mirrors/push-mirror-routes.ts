import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery } from '../../http/query.ts'
import { PushMirror, presentPushMirror } from '../../wire/mirror.ts'
import { enqueuePushes } from './enqueue.ts'
import { createPushMirror, deletePushMirror, getPushMirror } from './push-mirror-service.ts'
import { CreatePushMirrorOption } from './schema.ts'
import { listPushMirrorIds, listPushMirrors } from './store.ts'

const administer = { scope: 'repository', level: 'admin' } as const

export const pushMirrorRoutes = (context: Context) =>
  new Elysia({ name: 'push-mirrors', prefix: '/repos/:owner/:repo', detail: { tags: ['repository'] } })
    .use(gate(context))
    .get(
      '/push_mirrors',
      async ({ repo: { repository }, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const found = await listPushMirrors(context.db, repository.id, page)
        total(found.total)
        return found.rows.map((row) => presentPushMirror(row, repository.name))
      },
      {
        changeRepo: administer,
        query: t.Object(pageQuery),
        response: { 200: t.Array(PushMirror) },
        detail: {
          operationId: 'repoListPushMirrors',
          summary: 'Servers that a repository is pushed to',
          'x-list': 'total',
        },
      },
    )
    .post(
      '/push_mirrors',
      async ({ actor, repo, body }) =>
        presentPushMirror(await createPushMirror(context, { actor, repo }, body), repo.repository.name),
      {
        changeRepo: administer,
        body: CreatePushMirrorOption,
        response: { 200: PushMirror },
        detail: {
          operationId: 'repoAddPushMirror',
          summary: 'Push a repository to another server from now on',
          'x-refuses': [400],
        },
      },
    )
    .post(
      '/push_mirrors-sync',
      async ({ repo, set }) => {
        const { db } = context
        await enqueuePushes(db, await listPushMirrorIds(db, [repo.repository.id], { onCommitOnly: false }))
        set.status = 200
      },
      {
        changeRepo: administer,
        response: { 200: t.Void() },
        detail: { operationId: 'repoPushMirrorSync', summary: 'Push a repository to all its push mirrors now' },
      },
    )
    .get(
      '/push_mirrors/:name',
      async ({ repo, params }) =>
        presentPushMirror(await getPushMirror(context, repo, params.name), repo.repository.name),
      {
        changeRepo: administer,
        response: { 200: PushMirror },
        detail: { operationId: 'repoGetPushMirrorByRemoteName', summary: 'A push mirror' },
      },
    )
    .delete(
      '/push_mirrors/:name',
      async ({ actor, repo, params, set }) => {
        await deletePushMirror(context, { actor, repo }, params.name)
        set.status = 204
      },
      {
        changeRepo: administer,
        response: { 204: t.Void() },
        detail: { operationId: 'repoDeletePushMirror', summary: 'Delete a push mirror' },
      },
    )
