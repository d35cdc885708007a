import { Elysia, t } from 'elysia'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Context } from '../../context.ts'
import { endIfUnchanged } from '../../http/freshness.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { cursorQuery, queryInstant, queryList, queryText } from '../../http/query.ts'
import { viewerOf } from '../../http/viewer.ts'
import { Issue, presentIssue } from '../../wire/issue.ts'
import { editIssue } from './edit.ts'
import { listIssues } from './list.ts'
import { type LoadedIssue, loadIssues } from './load.ts'
import { CreateIssueOption, EditIssueOption } from './schema.ts'
import { createIssue, deleteIssue, getIssue } from './service.ts'

const read = { unit: 'repo.issues', scope: 'issue' } as const
const take = { unit: 'repo.issues', scope: 'issue', level: 'read' } as const

const listQuery = t.Object({
  ...cursorQuery,
  state: queryText(),
  labels: queryList(),
  q: queryText(),
  type: queryText(),
  milestones: queryList(),
  since: queryInstant('since'),
  before: queryInstant('before'),
  created_by: queryText(),
  assigned_by: queryText(),
  mentioned_by: queryText(),
})

export const issueRoutes = (context: Context) =>
  new Elysia({ name: 'issues', prefix: '/repos/:owner/:repo/issues', detail: { tags: ['issue'] } })
    .use(gate(context))
    .get(
      '',
      async ({ actor, repo, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const found = await listIssues(context.db, repo.repository.id, filterOf(query), page)
        const loaded = await loadIssues(context.db, found.rows)
        links(found.total, found.next)
        endIfUnchanged(context, { actor, request, set }, [repo.version, found.total, ...versions(loaded)])
        const viewer = viewerOf(context, actor)
        return loaded.map((one) => presentIssue(one, placeOf(repo), viewer))
      },
      {
        readRepo: read,
        query: listQuery,
        response: { 200: t.Array(Issue) },
        detail: { operationId: 'issueListIssues', summary: "List a repository's issues", 'x-list': 'links' },
      },
    )
    .post(
      '',
      async ({ actor, repo, body, status }) => {
        const made = await createIssue(context, { actor, repo }, body)
        return status(201, presentIssue(made, placeOf(repo), viewerOf(context, actor)))
      },
      {
        changeRepo: take,
        body: CreateIssueOption,
        response: { 201: Issue },
        detail: { operationId: 'issueCreateIssue', summary: 'Create an issue' },
      },
    )
    .get(
      '/:index',
      async ({ actor, repo, params, request, set }) => {
        const [loaded] = await loadIssues(context.db, [await getIssue(context, repo, params.index)])
        const issue = existing(loaded)
        endIfUnchanged(context, { actor, request, set }, [repo.version, issue.version])
        return presentIssue(issue, placeOf(repo), viewerOf(context, actor))
      },
      {
        readRepo: read,
        response: { 200: Issue },
        detail: { operationId: 'issueGetIssue', summary: 'An issue by its number' },
      },
    )
    .patch(
      '/:index',
      async ({ actor, repo, params, body, status }) => {
        const issue = await editIssue(context, { actor, repo }, { index: params.index, option: body })
        const [loaded] = await loadIssues(context.db, [{ issue, version: '' }])
        // Wire: a changed issue is answered with 201.
        return status(201, presentIssue(existing(loaded), placeOf(repo), viewerOf(context, actor)))
      },
      {
        changeRepo: take,
        body: EditIssueOption,
        response: { 201: Issue },
        detail: {
          operationId: 'issueEditIssue',
          summary: 'Change an issue. The deadline is gone with `unset_due_date`',
          'x-refuses': [409],
        },
      },
    )
    .delete(
      '/:index',
      async ({ actor, repo, params, set }) => {
        await deleteIssue(context, { actor, repo }, params.index)
        set.status = 204
      },
      {
        changeRepo: { ...take, level: 'admin' },
        response: { 204: t.Void() },
        detail: { operationId: 'issueDelete', summary: 'Delete an issue' },
      },
    )

/** Wire: an unknown state means open, an unknown type both. */
function filterOf(query: typeof listQuery.static) {
  return {
    isClosed: query.state === 'all' ? undefined : query.state === 'closed',
    isPull: query.type === 'issues' ? false : query.type === 'pulls' ? true : undefined,
    labels: query.labels ?? [],
    milestones: query.milestones ?? [],
    text: query.q,
    since: query.since,
    before: query.before,
    createdBy: query.created_by,
    assignedTo: query.assigned_by,
    mentions: query.mentioned_by,
  }
}

const placeOf = ({ repository, owner, apiUrl, htmlUrl }: RepositoryAccess) => ({
  id: repository.id,
  name: repository.name,
  ownerName: owner.name,
  apiUrl,
  htmlUrl,
})

const versions = (issues: readonly LoadedIssue[]): string[] => issues.map(({ version }) => version)

function existing(issue: LoadedIssue | undefined): LoadedIssue {
  if (issue === undefined) throw new Error('an issue that was just read is gone')
  return issue
}
