import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { cursorQuery, queryBoolean, queryInteger, queryText } from '../../http/query.ts'
import { Repository } from '../../wire/repository.ts'
import { listRepositories } from './list.ts'
import { repositorySorts } from './order.ts'
import { presentPage } from './present.ts'
import { SearchResults } from './schema.ts'
import { searchRepositories } from './search.ts'

const Repositories = t.Array(Repository)
const query = t.Object(cursorQuery)

/** Search, and the repositories of oneself, of a user and of an organization. */
export const repositoryListRoutes = (context: Context) =>
  new Elysia({ name: 'repository-lists' })
    .use(gate(context))
    .get(
      '/repos/search',
      async ({ actor, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const found = await searchRepositories(context, actor, query, page)
        links(found.total, found.next)
        return { ok: true, data: presentPage(context, actor, found) }
      },
      {
        open: { scope: 'repository' },
        query: t.Object({
          ...cursorQuery,
          q: queryText(),
          topic: queryBoolean(),
          includeDesc: queryBoolean(),
          uid: queryInteger(),
          priority_owner_id: queryInteger(),
          team_id: queryInteger(),
          starredBy: queryInteger(),
          private: queryBoolean(),
          is_private: queryBoolean(),
          template: queryBoolean(),
          archived: queryBoolean(),
          mode: queryText({ enum: ['source', 'fork', 'mirror', 'collaborative'] }),
          exclusive: queryBoolean(),
          sort: queryText({ enum: repositorySorts.filter((sort) => sort !== 'name') }),
          order: queryText({ enum: ['asc', 'desc'] }),
        }),
        response: { 200: SearchResults },
        detail: {
          operationId: 'repoSearch',
          summary: 'Search repositories',
          tags: ['repository'],
          'x-list': 'links',
          'x-refuses': [422],
        },
      },
    )
    .get(
      '/user/repos',
      async ({ actor, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const filter = { involvedId: actor.user.id }
        const found = await listRepositories(context, actor, { filter, order: { by: 'name' }, page })
        links(found.total, found.next)
        return presentPage(context, actor, found)
      },
      {
        login: { scope: ['user', 'repository'] },
        query,
        response: { 200: Repositories },
        detail: {
          operationId: 'userCurrentListRepos',
          summary: 'Repositories that you own or work on',
          tags: ['user'],
          'x-list': 'links',
        },
      },
    )
    .get(
      '/users/:username/repos',
      async ({ actor, account, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const filter = { ownerId: account.row.id }
        const found = await listRepositories(context, actor, { filter, order: { by: 'id' }, page })
        links(found.total, found.next)
        return presentPage(context, actor, found)
      },
      {
        readUser: { scope: ['user', 'repository'] },
        query,
        response: { 200: Repositories },
        detail: {
          operationId: 'userListRepos',
          summary: 'Repositories of a user',
          tags: ['user'],
          'x-list': 'links',
        },
      },
    )
    .get(
      '/orgs/:org/repos',
      async ({ actor, org, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const filter = { ownerId: org.row.id }
        const found = await listRepositories(context, actor, { filter, order: { by: 'id' }, page })
        links(found.total, found.next)
        return presentPage(context, actor, found)
      },
      {
        readOrg: { scope: 'organization' },
        query,
        response: { 200: Repositories },
        detail: {
          operationId: 'orgListRepos',
          summary: 'Repositories of an organization',
          tags: ['organization'],
          'x-list': 'links',
        },
      },
    )
