import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { cursorQuery, queryText } from '../../http/query.ts'
import { Email, presentEmail } from '../../wire/email.ts'
import { setPrimaryEmail } from './primary.ts'
import { CreateEmailOption, DeleteEmailOption, SetPrimaryEmailOption } from './schema.ts'
import { addEmails, deleteEmails } from './service.ts'
import { listEmails, searchEmails } from './store.ts'

const own = { scope: { area: 'user', part: 'email' }, personal: true } as const

export const emailRoutes = (context: Context) =>
  new Elysia({ name: 'emails', prefix: '/user/emails', detail: { tags: ['user'] } })
    .use(gate(context))
    .get(
      '',
      async ({ actor }) => {
        const rows = await listEmails(context.db, actor.user.id)
        return rows.map((row) => presentEmail(row))
      },
      {
        login: own,
        response: { 200: t.Array(Email) },
        detail: { operationId: 'userListEmails', summary: "The signed-in user's addresses" },
      },
    )
    .post(
      '',
      async ({ actor, body, status }) => {
        const rows = await addEmails(context, actor, body.emails ?? [])
        return status(
          201,
          rows.map((row) => presentEmail(row)),
        )
      },
      {
        login: own,
        body: CreateEmailOption,
        response: { 201: t.Array(Email) },
        detail: { operationId: 'userAddEmail', summary: 'Add addresses' },
      },
    )
    .delete(
      '',
      async ({ actor, body, set }) => {
        await deleteEmails(context, actor, body.emails ?? [])
        set.status = 204
      },
      {
        login: own,
        body: DeleteEmailOption,
        response: { 204: t.Void() },
        detail: { operationId: 'userDeleteEmail', summary: 'Delete addresses' },
      },
    )
    // Gitea has this on a page only. The service sends its letters about the account to this address, so no token may change it.
    .post(
      '/primary',
      async ({ actor, body }) => {
        const rows = await setPrimaryEmail(context, actor, body.email)
        return rows.map((row) => presentEmail(row))
      },
      {
        login: { ...own, byPassword: true },
        body: SetPrimaryEmailOption,
        response: { 200: t.Array(Email) },
        detail: { operationId: 'userSetPrimaryEmail', summary: 'Make a confirmed address the primary one' },
      },
    )

export const adminEmailRoutes = (context: Context) =>
  new Elysia({ name: 'admin-emails', prefix: '/admin/emails', detail: { tags: ['admin'] } })
    .use(gate(context))
    .get(
      '',
      async ({ query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const found = await searchEmails(context.db, undefined, page)
        links(found.total, found.next)
        return found.rows.map(({ email, owner }) => presentEmail(email, owner))
      },
      {
        admin: true,
        query: t.Object(cursorQuery),
        response: { 200: t.Array(Email) },
        detail: { operationId: 'adminGetAllEmails', summary: 'The addresses of all users', 'x-list': 'links' },
      },
    )
    .get(
      '/search',
      async ({ query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const found = await searchEmails(context.db, query.q, page)
        links(found.total, found.next)
        return found.rows.map(({ email, owner }) => presentEmail(email, owner))
      },
      {
        admin: true,
        query: t.Object({ q: queryText(), ...cursorQuery }),
        response: { 200: t.Array(Email) },
        detail: { operationId: 'adminSearchEmails', summary: 'Search the addresses of all users', 'x-list': 'links' },
      },
    )
