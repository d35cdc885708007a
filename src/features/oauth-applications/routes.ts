import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery } from '../../http/query.ts'
import { parseId } from '../../kernel/ids.ts'
import { OAuth2Application, presentOAuth2Application } from '../../wire/oauth2-application.ts'
import { CreateOAuth2ApplicationOptions } from './schema.ts'
import { createApplication, deleteApplication, getApplication, regenerateSecret } from './service.ts'
import { listApplications } from './store.ts'

const own = { scope: { area: 'user', part: 'application' }, personal: true } as const

/** The applications that the signed-in person has registered. */
export const oauthApplicationRoutes = (context: Context) =>
  new Elysia({ name: 'oauth-applications', prefix: '/user/applications/oauth2', detail: { tags: ['user'] } })
    .use(gate(context))
    .get(
      '',
      async ({ actor, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const applications = await listApplications(context.db, actor.user.id, page)
        links(applications.total)
        return applications.rows.map((row) => presentOAuth2Application(row))
      },
      {
        login: own,
        query: t.Object(pageQuery),
        response: { 200: t.Array(OAuth2Application) },
        detail: {
          operationId: 'userGetOauth2Application',
          summary: "The signed-in user's OAuth2 applications",
          'x-list': 'links',
        },
      },
    )
    .post(
      '',
      async ({ actor, body, status }) => {
        const { row, secret } = await createApplication(context, actor, body)
        return status(201, presentOAuth2Application(row, secret))
      },
      {
        login: own,
        body: CreateOAuth2ApplicationOptions,
        response: { 201: OAuth2Application },
        detail: { operationId: 'userCreateOAuth2Application', summary: 'Register an OAuth2 application' },
      },
    )
    .get(
      '/:id',
      async ({ actor, params }) => presentOAuth2Application(await getApplication(context, actor, parseId(params.id))),
      {
        login: own,
        response: { 200: OAuth2Application },
        detail: { operationId: 'userGetOAuth2Application', summary: 'An OAuth2 application' },
      },
    )
    .patch(
      '/:id',
      async ({ actor, params, body }) => {
        const { row, secret } = await regenerateSecret(context, actor, { id: parseId(params.id), option: body })
        return presentOAuth2Application(row, secret)
      },
      {
        login: own,
        body: CreateOAuth2ApplicationOptions,
        response: { 200: OAuth2Application },
        detail: {
          operationId: 'userUpdateOAuth2Application',
          summary: 'Change an OAuth2 application, and give it a new secret',
        },
      },
    )
    .delete(
      '/:id',
      async ({ actor, params, set }) => {
        await deleteApplication(context, actor, parseId(params.id))
        set.status = 204
      },
      {
        login: own,
        response: { 204: t.Void() },
        detail: {
          operationId: 'userDeleteOAuth2Application',
          summary: 'Delete an OAuth2 application and all its tokens',
        },
      },
    )
