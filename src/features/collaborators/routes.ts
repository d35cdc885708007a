import { Elysia, t } from 'elysia'
import { listAssignable } from '../../access/assignable.ts'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery } from '../../http/query.ts'
import { viewerOf } from '../../http/viewer.ts'
import { presentUser, User } from '../../wire/user.ts'
import { AddCollaboratorOption, RepoCollaboratorPermission } from './schema.ts'
import { addCollaborator, getReviewers, readPermission, removeCollaborator, requireCollaborator } from './service.ts'
import { listCollaborators } from './store.ts'

const read = { scope: 'repository', login: true } as const
const change = { scope: 'repository', level: 'admin', evenArchived: true } as const
const parameters = { username: 'collaborator' } as const

/** People who were given access to a repository one by one, and who can be asked to work on its issues. */
export const collaboratorRoutes = (context: Context) =>
  new Elysia({ name: 'collaborators', prefix: '/repos/:owner/:repo', detail: { tags: ['repository'] } })
    .use(gate(context))
    .get(
      '/collaborators',
      async ({ actor, repo, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const found = await listCollaborators(context.db, repo.repository.id, page)
        total(found.total)
        return found.rows.map((user) => presentUser(user, viewerOf(context, actor)))
      },
      {
        readRepo: read,
        query: t.Object(pageQuery),
        response: { 200: t.Array(User) },
        detail: { operationId: 'repoListCollaborators', summary: 'List collaborators', 'x-list': 'total' },
      },
    )
    .get(
      '/collaborators/:username',
      async ({ actor, repo, params, set }) => {
        await requireCollaborator(context, { actor, repo, name: params.username })
        set.status = 204
      },
      {
        readRepo: read,
        response: { 204: t.Void() },
        detail: {
          operationId: 'repoCheckCollaborator',
          summary: 'Whether somebody is a collaborator',
          'x-parameters': parameters,
          'x-refuses': [422],
        },
      },
    )
    .put(
      '/collaborators/:username',
      async ({ actor, repo, params, body, set }) => {
        await addCollaborator(context, { actor, repo, name: params.username }, body.permission || 'write')
        set.status = 204
      },
      {
        changeRepo: change,
        body: AddCollaboratorOption,
        response: { 204: t.Void() },
        detail: {
          operationId: 'repoAddCollaborator',
          summary: 'Give somebody access, or change the access that was given',
          'x-parameters': parameters,
        },
      },
    )
    .delete(
      '/collaborators/:username',
      async ({ actor, repo, params, set }) => {
        await removeCollaborator(context, { actor, repo, name: params.username })
        set.status = 204
      },
      {
        changeRepo: change,
        response: { 204: t.Void() },
        detail: {
          operationId: 'repoDeleteCollaborator',
          summary: 'Take the access back',
          'x-parameters': parameters,
          'x-refuses': [422],
        },
      },
    )
    .get(
      '/collaborators/:username/permission',
      async ({ actor, repo, params }) => {
        const { user, permission } = await readPermission(context, { actor, repo, name: params.username })
        return { permission, role_name: permission, user: presentUser(user, viewerOf(context, actor)) }
      },
      {
        readRepo: read,
        response: { 200: RepoCollaboratorPermission },
        detail: {
          operationId: 'repoGetRepoPermissions',
          summary: 'What somebody may do with a repository',
          'x-parameters': parameters,
        },
      },
    )
    .get(
      '/assignees',
      async ({ actor, repo }) => {
        const people = await listAssignable(context.db, repo.repository)
        return people.map((user) => presentUser(user, viewerOf(context, actor)))
      },
      {
        readRepo: read,
        response: { 200: t.Array(User) },
        detail: { operationId: 'repoGetAssignees', summary: 'Who can be asked to work on issues' },
      },
    )
    .get(
      '/reviewers',
      async ({ actor, repo }) => {
        const people = await getReviewers(context, { actor, repo })
        return people.map((user) => presentUser(user, viewerOf(context, actor)))
      },
      {
        readRepo: read,
        response: { 200: t.Array(User) },
        detail: { operationId: 'repoGetReviewers', summary: 'Whom a review can be asked of', 'x-refuses': [403] },
      },
    )
