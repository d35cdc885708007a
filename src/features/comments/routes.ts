import { Elysia, t } from 'elysia'
import { issueUnits } from '../../access/issues.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { Unchanged, unchangedAnswer } from '../../http/answers.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { cursorQuery, queryInstant } from '../../http/query.ts'
import { viewerOf } from '../../http/viewer.ts'
import { Comment, presentComment } from '../../wire/comment.ts'
import { CreateIssueCommentOption, EditIssueCommentOption } from './schema.ts'
import { createComment, deleteComment, editComment, getEntry, isComment } from './service.ts'
import { type FoundComment, listIssueComments, listRepositoryComments } from './store.ts'

const scope = 'issue'
/** The comment says which issue it belongs to, and that decides who may read it: see `getComment`. */
const read = { unit: issueUnits, scope } as const
const take = { unit: issueUnits, scope, level: 'read' } as const

/** Wire: the Gitea API gives all comments of an issue at once. This many are enough for any real issue. */
const MAX_COMMENTS = 5000

const timeQuery = { since: queryInstant('since'), before: queryInstant('before') }

/** Wire: what happened to an issue has a number as comments have, and no content. */
function nothing(set: { status?: number | string }): undefined {
  set.status = 204
}

const versions = (found: readonly FoundComment[]): string[] => found.map(({ version }) => version)

export const commentRoutes = (context: Context) => {
  const present = (found: FoundComment, htmlUrl: string, actor: Actor | undefined) =>
    presentComment(found, htmlUrl, viewerOf(context, actor))
  return new Elysia({ name: 'comments', prefix: '/repos/:owner/:repo/issues', detail: { tags: ['issue'] } })
    .use(gate(context))
    .get(
      '/:index/comments',
      async ({ actor, repo, issue: { issue }, query, request, set }) => {
        const { total } = paging(context, {}, { request, set })
        const found = await listIssueComments(context.db, issue.id, query, MAX_COMMENTS)
        total(found.total)
        const unchanged = unchangedAnswer(context, { actor, request, set }, [
          repo.version,
          found.total,
          ...versions(found.rows),
        ])
        if (unchanged) return unchanged
        return found.rows.map((one) => present(one, repo.htmlUrl, actor))
      },
      {
        readIssue: { scope },
        query: t.Object(timeQuery),
        response: { 200: t.Array(Comment), 304: Unchanged },
        detail: {
          operationId: 'issueGetComments',
          summary: "List an issue's comments",
          'x-list': 'total',
          'x-refuses': [422],
        },
      },
    )
    .post(
      '/:index/comments',
      async ({ actor, repo, issue: { issue }, body, status }) => {
        const made = await createComment(context, { actor, repo }, { issue, body: body.body })
        return status(201, present(made, repo.htmlUrl, actor))
      },
      {
        changeIssue: { scope, level: 'read' },
        body: CreateIssueCommentOption,
        response: { 201: Comment },
        detail: { operationId: 'issueCreateComment', summary: 'Comment on an issue' },
      },
    )
    .get(
      '/comments',
      async ({ actor, repo, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const found = await listRepositoryComments(context.db, repo, query, page)
        total(found.total, found.next)
        const unchanged = unchangedAnswer(context, { actor, request, set }, [
          repo.version,
          found.total,
          ...versions(found.rows),
        ])
        if (unchanged) return unchanged
        return found.rows.map((one) => present(one, repo.htmlUrl, actor))
      },
      {
        // Wire: without issues there is no such list, also for who may read pull requests.
        readRepo: { unit: 'repo.issues', scope },
        query: t.Object({ ...cursorQuery, ...timeQuery }),
        response: { 200: t.Array(Comment), 304: Unchanged },
        detail: {
          operationId: 'issueGetRepoComments',
          summary: "List the comments on all of a repository's issues",
          'x-list': 'total',
        },
      },
    )
    .get(
      '/comments/:id',
      async ({ actor, repo, params, request, set }) => {
        const found = await getEntry(context, repo, params.id)
        if (!isComment(found)) return nothing(set)
        const unchanged = unchangedAnswer(context, { actor, request, set }, [repo.version, found.version])
        if (unchanged) return unchanged
        return present(found, repo.htmlUrl, actor)
      },
      {
        readRepo: read,
        response: { 200: Comment, 204: t.Void(), 304: Unchanged },
        detail: { operationId: 'issueGetComment', summary: 'A comment' },
      },
    )
    .patch(
      '/comments/:id',
      async ({ actor, repo, params, body, set }) => {
        const edited = await editComment(context, { actor, repo }, { id: params.id, body: body.body })
        return edited ? present(edited, repo.htmlUrl, actor) : nothing(set)
      },
      {
        changeRepo: take,
        body: EditIssueCommentOption,
        response: { 200: Comment, 204: t.Void() },
        detail: { operationId: 'issueEditComment', summary: 'Change a comment' },
      },
    )
    .delete(
      '/comments/:id',
      async ({ actor, repo, params, set }) => {
        await deleteComment(context, { actor, repo }, params.id)
        set.status = 204
      },
      {
        changeRepo: take,
        response: { 204: t.Void() },
        detail: { operationId: 'issueDeleteComment', summary: 'Delete a comment', 'x-refuses': [400] },
      },
    )
    .patch(
      '/:index/comments/:id',
      async ({ actor, repo, params, body, set }) => {
        const edited = await editComment(context, { actor, repo }, { id: params.id, body: body.body })
        return edited ? present(edited, repo.htmlUrl, actor) : nothing(set)
      },
      {
        changeRepo: take,
        body: EditIssueCommentOption,
        response: { 200: Comment, 204: t.Void() },
        detail: {
          // Wire: the number of the issue is not looked at; the comment alone says which it is.
          operationId: 'issueEditCommentDeprecated',
          summary: 'Change a comment; use /issues/comments/{id}',
          deprecated: true,
        },
      },
    )
    .delete(
      '/:index/comments/:id',
      async ({ actor, repo, params, set }) => {
        await deleteComment(context, { actor, repo }, params.id)
        set.status = 204
      },
      {
        changeRepo: take,
        response: { 204: t.Void() },
        detail: {
          operationId: 'issueDeleteCommentDeprecated',
          summary: 'Delete a comment; use /issues/comments/{id}',
          deprecated: true,
          'x-refuses': [400],
        },
      },
    )
}
