import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { setRepositoryAvatar } from './avatar.ts'

const change = { level: 'admin', scope: 'repository', evenArchived: true } as const

const UpdateRepoAvatarOption = t.Object(
  { image: t.String({ minLength: 1, description: 'The picture in base64: PNG, JPEG, GIF or WebP, at most 1 MiB.' }) },
  { $id: 'UpdateRepoAvatarOption' },
)

export const repositoryAvatarRoutes = (context: Context) =>
  new Elysia({ name: 'repository-avatar', prefix: '/repos/:owner/:repo/avatar', detail: { tags: ['repository'] } })
    .use(gate(context))
    .post(
      '',
      async ({ actor, repo, body, set }) => {
        await setRepositoryAvatar(context, { actor, repo }, body.image)
        set.status = 204
      },
      {
        changeRepo: change,
        body: UpdateRepoAvatarOption,
        response: { 204: t.Void() },
        detail: { operationId: 'repoUpdateAvatar', summary: 'Upload a picture', 'x-refuses': [400, 413] },
      },
    )
    .delete(
      '',
      async ({ actor, repo, set }) => {
        await setRepositoryAvatar(context, { actor, repo }, undefined)
        set.status = 204
      },
      {
        changeRepo: change,
        response: { 204: t.Void() },
        detail: { operationId: 'repoDeleteAvatar', summary: 'Delete the uploaded picture' },
      },
    )
