import { Elysia, t } from 'elysia'
import type { Context } from '../context.ts'
import { gate } from '../http/gate.ts'
import { paging } from '../http/paging.ts'
import { pageQuery } from '../http/query.ts'
import { Hook, presentHook } from '../wire/hook.ts'
import { CreateHookOption, EditHookOption } from './schema.ts'
import { createHook, deleteHook, editHook, getHook, showHook } from './service.ts'
import { listHooks } from './store.ts'

const owner = { scope: 'organization', role: 'owner' } as const
const mine = { scope: 'user', personal: true } as const

export const organizationHookRoutes = (context: Context) =>
  new Elysia({ name: 'organization-hooks', prefix: '/orgs/:org/hooks', detail: { tags: ['organization'] } })
    .use(gate(context))
    .get(
      '',
      async ({ org, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const found = await listHooks(context.db, { ownerId: org.row.id }, page)
        links(found.total)
        return found.rows.map((hook) => presentHook(showHook(context, hook)))
      },
      {
        readOrg: owner,
        query: t.Object(pageQuery),
        response: { 200: t.Array(Hook) },
        detail: { operationId: 'orgListHooks', summary: "List an organization's hooks", 'x-list': 'links' },
      },
    )
    .post(
      '',
      async ({ actor, org, body, status }) =>
        status(201, presentHook(await createHook(context, { actor, parent: { ownerId: org.row.id }, option: body }))),
      {
        changeOrg: owner,
        body: CreateHookOption,
        response: { 201: Hook },
        detail: { operationId: 'orgCreateHook', summary: 'Create a hook', 'x-refuses': [400] },
      },
    )
    .get(
      '/:id',
      async ({ org, params }) =>
        presentHook(showHook(context, await getHook(context, { ownerId: org.row.id }, params.id))),
      {
        readOrg: owner,
        response: { 200: Hook },
        detail: { operationId: 'orgGetHook', summary: 'A hook' },
      },
    )
    .patch(
      '/:id',
      async ({ actor, org, params, body }) =>
        presentHook(await editHook(context, { actor, parent: { ownerId: org.row.id }, id: params.id, option: body })),
      {
        changeOrg: owner,
        body: EditHookOption,
        response: { 200: Hook },
        detail: { operationId: 'orgEditHook', summary: 'Change a hook', 'x-refuses': [400] },
      },
    )
    .delete(
      '/:id',
      async ({ actor, org, params, set }) => {
        await deleteHook(context, { actor, parent: { ownerId: org.row.id }, id: params.id })
        set.status = 204
      },
      {
        changeOrg: owner,
        response: { 204: t.Void() },
        detail: { operationId: 'orgDeleteHook', summary: 'Delete a hook' },
      },
    )

/** Hooks for all repositories of a person. */
export const userHookRoutes = (context: Context) =>
  new Elysia({ name: 'user-hooks', prefix: '/user/hooks', detail: { tags: ['user'] } })
    .use(gate(context))
    .get(
      '',
      async ({ actor, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const found = await listHooks(context.db, { ownerId: actor.user.id }, page)
        links(found.total)
        return found.rows.map((hook) => presentHook(showHook(context, hook)))
      },
      {
        login: mine,
        query: t.Object(pageQuery),
        response: { 200: t.Array(Hook) },
        detail: { operationId: 'userListHooks', summary: 'List your hooks', 'x-list': 'links' },
      },
    )
    .post(
      '',
      async ({ actor, body, status }) =>
        status(
          201,
          presentHook(await createHook(context, { actor, parent: { ownerId: actor.user.id }, option: body })),
        ),
      {
        login: mine,
        body: CreateHookOption,
        response: { 201: Hook },
        detail: { operationId: 'userCreateHook', summary: 'Create a hook', 'x-refuses': [400] },
      },
    )
    .get(
      '/:id',
      async ({ actor, params }) =>
        presentHook(showHook(context, await getHook(context, { ownerId: actor.user.id }, params.id))),
      {
        login: mine,
        response: { 200: Hook },
        detail: { operationId: 'userGetHook', summary: 'A hook' },
      },
    )
    .patch(
      '/:id',
      async ({ actor, params, body }) =>
        presentHook(
          await editHook(context, { actor, parent: { ownerId: actor.user.id }, id: params.id, option: body }),
        ),
      {
        login: mine,
        body: EditHookOption,
        response: { 200: Hook },
        detail: { operationId: 'userEditHook', summary: 'Change a hook', 'x-refuses': [400] },
      },
    )
    .delete(
      '/:id',
      async ({ actor, params, set }) => {
        await deleteHook(context, { actor, parent: { ownerId: actor.user.id }, id: params.id })
        set.status = 204
      },
      {
        login: mine,
        response: { 204: t.Void() },
        detail: { operationId: 'userDeleteHook', summary: 'Delete a hook' },
      },
    )
