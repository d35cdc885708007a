import { Elysia, t } from 'elysia'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { Unchanged, unchangedAnswer } from '../../http/answers.ts'
import { gate } from '../../http/gate.ts'
import { gitClient } from '../../http/git-gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery } from '../../http/query.ts'
import { presentWikiCommit, WikiCommitList, WikiPage, WikiPageMetaData } from '../../wire/wiki.ts'
import { countRevisions, getByAddress, getWiki, listPageFiles, listRevisions, showPage, showPages } from './pages.ts'
import { CreateWikiPageOptions } from './schema.ts'
import { createPage, deletePage, editPage } from './write.ts'

const read = { unit: 'repo.wiki', scope: 'repository' } as const
const write = { unit: 'repo.wiki', level: 'write', scope: 'repository' } as const
// Of the path as it was sent: an escaped sign names another page.
const named = { 'x-parameters': { '*': 'pageName' } } as const

// A folder of more bytes than are read is answered by 413.
const large = { 'x-refuses': [413] } as const
const refuses = { 'x-refuses': [400, 409, 413] } as const

/** Wire: one page of revisions has as many as Gitea shows of commits, and no `limit` changes that. */
const REVISIONS_PER_PAGE = 50

export const wikiRoutes = (context: Context) =>
  new Elysia({ name: 'wikis', prefix: '/repos/:owner/:repo/wiki', detail: { tags: ['repository'] } })
    .use(gate(context))
    .get(
      '/pages',
      async ({ actor, repo, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const call = callOf(context, request, actor)
        const wiki = await getWiki(context, repo)
        const all = await listPageFiles(context, wiki, call)
        links(all.length)
        const version = [repo.version, wiki.commit.sha, page.number, page.limit]
        const unchanged = unchangedAnswer(context, { actor, request, set }, version)
        const files = all.slice(page.offset, page.offset + page.limit)
        return unchanged ?? showPages(context, repo, { wiki, files, call })
      },
      {
        readRepo: read,
        query: t.Object(pageQuery),
        response: { 200: t.Array(WikiPageMetaData), 304: Unchanged },
        detail: { operationId: 'repoGetWikiPages', summary: 'The pages of the wiki', 'x-list': 'links', ...large },
      },
    )
    .post(
      '/new',
      async ({ actor, repo, body, status }) => status(201, await createPage(context, { actor, repo }, body)),
      {
        changeRepo: write,
        body: CreateWikiPageOptions,
        response: { 201: WikiPage },
        detail: { operationId: 'repoCreateWikiPage', summary: 'Create a page of the wiki', ...refuses },
      },
    )
    .get(
      '/page/*',
      async ({ actor, repo, params, request, set }) => {
        const call = callOf(context, request, actor)
        const wiki = await getWiki(context, repo)
        const files = await listPageFiles(context, wiki, call)
        const page = getByAddress(files, params['*'])
        const version = [repo.version, wiki.commit.sha, page.file]
        const unchanged = unchangedAnswer(context, { actor, request, set }, version)
        return unchanged ?? showPage(context, repo, { wiki, files, page, call })
      },
      {
        readRepo: read,
        response: { 200: WikiPage, 304: Unchanged },
        detail: { operationId: 'repoGetWikiPage', summary: 'A page of the wiki', ...large, ...named },
      },
    )
    .patch(
      '/page/*',
      ({ actor, repo, params, body }) => editPage(context, { actor, repo }, { address: params['*'], option: body }),
      {
        changeRepo: write,
        body: CreateWikiPageOptions,
        response: { 200: WikiPage },
        detail: { operationId: 'repoEditWikiPage', summary: 'Change or rename a page', ...refuses, ...named },
      },
    )
    .delete(
      '/page/*',
      async ({ actor, repo, params, set }) => {
        await deletePage(context, { actor, repo }, params['*'])
        set.status = 204
      },
      {
        changeRepo: write,
        response: { 204: t.Void() },
        detail: { operationId: 'repoDeleteWikiPage', summary: 'Delete a page', 'x-refuses': [409, 413], ...named },
      },
    )
    .get(
      '/revisions/*',
      async ({ actor, repo, params, query, request, set }) => {
        const asked = { page: query.page, limit: String(REVISIONS_PER_PAGE) }
        const { page: range, total } = paging(context, asked, { request, set })
        const call = callOf(context, request, actor)
        const wiki = await getWiki(context, repo)
        const page = getByAddress(await listPageFiles(context, wiki, call), params['*'])
        const count = await countRevisions(context, wiki, page, call)
        total(count)
        const version = [repo.version, wiki.commit.sha, page.file, range.number]
        const unchanged = unchangedAnswer(context, { actor, request, set }, version)
        if (unchanged) return unchanged
        const commits = range.offset < count ? await listRevisions(context, wiki, { page, range, call }) : []
        return { commits: commits.map(presentWikiCommit), count }
      },
      {
        readRepo: read,
        query: t.Object({ page: pageQuery.page }),
        response: { 200: WikiCommitList, 304: Unchanged },
        detail: {
          operationId: 'repoGetWikiPageRevisions',
          summary: 'The commits of a page, newest first',
          'x-list': 'total',
          ...large,
          ...named,
        },
      },
    )

const callOf = (context: Context, request: Request, actor: Actor | undefined) => ({
  signal: request.signal,
  client: gitClient(context, request, actor),
})
