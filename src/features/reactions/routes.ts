import { Elysia, t } from 'elysia'
import { issueUnits } from '../../access/issues.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { cursorQuery } from '../../http/query.ts'
import { viewerOf } from '../../http/viewer.ts'
import { presentReaction, Reaction } from '../../wire/reaction.ts'
import { getComment } from '../comments/service.ts'
import { EditReactionOption } from './schema.ts'
import { react, unreact } from './service.ts'
import { listReactions } from './store.ts'

const scope = 'issue'

/** Wire: all reactions to a comment are given at once. This many are enough for any real comment. */
const MAX_REACTIONS = 1000
const allAtOnce = { number: 1, limit: MAX_REACTIONS, offset: 0 }

/** Wire: 200 where somebody had reacted so before. */
const added = { 200: Reaction, 201: Reaction }

export const issueReactionRoutes = (context: Context) =>
  new Elysia({
    name: 'issueReactions',
    prefix: '/repos/:owner/:repo/issues/:index/reactions',
    detail: { tags: ['issue'] },
  })
    .use(gate(context))
    .get(
      '',
      async ({ actor, issue: { issue }, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const found = await listReactions(context.db, { issueId: issue.id }, page)
        total(found.total, found.next)
        const viewer = viewerOf(context, actor)
        return found.rows.map((row) => presentReaction(row, viewer))
      },
      {
        readIssue: { scope },
        query: t.Object(cursorQuery),
        response: { 200: t.Array(Reaction) },
        detail: { operationId: 'issueGetIssueReactions', summary: 'List the reactions to an issue', 'x-list': 'total' },
      },
    )
    .post(
      '',
      async ({ actor, repo, issue: { issue }, body, status }) => {
        const { isNew, ...reaction } = await react(context, { actor, repo, issue }, body.content ?? '')
        return status(isNew ? 201 : 200, presentReaction(reaction, viewerOf(context, actor)))
      },
      {
        changeIssue: { scope, level: 'read' },
        body: EditReactionOption,
        response: added,
        detail: { operationId: 'issuePostIssueReaction', summary: 'React to an issue' },
      },
    )
    .delete(
      '',
      async ({ actor, repo, issue: { issue }, body, set }) => {
        await unreact(context, { actor, repo, issue }, body.content)
        set.status = 204
      },
      {
        changeIssue: { scope, level: 'read' },
        body: EditReactionOption,
        response: { 204: t.Void() },
        detail: { operationId: 'issueDeleteIssueReaction', summary: 'Take a reaction to an issue back' },
      },
    )

export const commentReactionRoutes = (context: Context) => {
  /** The comment says which issue it belongs to, and that decides who may do what. */
  const commentOf = async (repo: RepositoryAccess, id: string) => {
    const { comment, issue } = await getComment(context, repo, id)
    return { repo, comment, issue }
  }
  return new Elysia({
    name: 'commentReactions',
    prefix: '/repos/:owner/:repo/issues/comments/:id/reactions',
    detail: { tags: ['issue'] },
  })
    .use(gate(context))
    .get(
      '',
      async ({ actor, repo, params }) => {
        const { comment } = await commentOf(repo, params.id)
        const found = await listReactions(context.db, { commentId: comment.id }, allAtOnce)
        const viewer = viewerOf(context, actor)
        return found.rows.map((row) => presentReaction(row, viewer))
      },
      {
        readRepo: { unit: issueUnits, scope },
        response: { 200: t.Array(Reaction) },
        detail: { operationId: 'issueGetCommentReactions', summary: 'List the reactions to a comment' },
      },
    )
    .post(
      '',
      async ({ actor, repo, params, body, status }) => {
        const place = { actor, ...(await commentOf(repo, params.id)) }
        const { isNew, ...reaction } = await react(context, place, body.content ?? '')
        return status(isNew ? 201 : 200, presentReaction(reaction, viewerOf(context, actor)))
      },
      {
        changeRepo: { unit: issueUnits, scope, level: 'read' },
        body: EditReactionOption,
        response: added,
        detail: { operationId: 'issuePostCommentReaction', summary: 'React to a comment' },
      },
    )
    .delete(
      '',
      async ({ actor, repo, params, body, set }) => {
        await unreact(context, { actor, ...(await commentOf(repo, params.id)) }, body.content)
        set.status = 204
      },
      {
        changeRepo: { unit: issueUnits, scope, level: 'read' },
        body: EditReactionOption,
        response: { 204: t.Void() },
        detail: { operationId: 'issueDeleteCommentReaction', summary: 'Take a reaction to a comment back' },
      },
    )
}
