import { Elysia, t } from 'elysia'
import { issueUnits } from '../../access/issues.ts'
import type { Context } from '../../context.ts'
import { Unchanged, unchangedAnswer } from '../../http/answers.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { cursorQuery, queryInstant, queryList, queryText } from '../../http/query.ts'
import { viewerOf } from '../../http/viewer.ts'
import { Issue, presentIssue } from '../../wire/issue.ts'
import { editIssue } from './edit.ts'
import { type IssueQuery, issueFilter, readKinds } from './filter.ts'
import { listIssues } from './list.ts'
import { type LoadedIssue, loadIssues } from './load.ts'
import { shownPlace } from './place.ts'
import { CreateIssueOption, EditIssueOption } from './schema.ts'
import { createIssue, deleteIssue } from './service.ts'

const scope = 'issue'

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
        const filter = await issueFilter(context, { actor, repo }, queryOf(query))
        const found = await listIssues(context.db, filter, page)
        const loaded = await loadIssues(context.db, found.rows)
        links(found.total, found.next)
        const unchanged = unchangedAnswer(context, { actor, request, set }, [
          repo.version,
          found.total,
          ...versions(loaded),
        ])
        if (unchanged) return unchanged
        const viewer = viewerOf(context, actor)
        return loaded.map((one) => presentIssue(one, shownPlace(repo), viewer))
      },
      {
        readRepo: { unit: issueUnits, scope },
        query: listQuery,
        response: { 200: t.Array(Issue), 304: Unchanged },
        detail: { operationId: 'issueListIssues', summary: "List a repository's issues", 'x-list': 'links' },
      },
    )
    .post(
      '',
      async ({ actor, repo, body, status }) => {
        const made = await createIssue(context, { actor, repo }, body)
        return status(201, presentIssue(made, shownPlace(repo), viewerOf(context, actor)))
      },
      {
        changeRepo: { unit: 'repo.issues', scope, level: 'read' },
        body: CreateIssueOption,
        response: { 201: Issue },
        detail: { operationId: 'issueCreateIssue', summary: 'Create an issue' },
      },
    )
    .get(
      '/:index',
      async ({ actor, repo, issue: found, request, set }) => {
        const [loaded] = await loadIssues(context.db, [found])
        const issue = existing(loaded)
        const unchanged = unchangedAnswer(context, { actor, request, set }, [repo.version, issue.version])
        if (unchanged) return unchanged
        return presentIssue(issue, shownPlace(repo), viewerOf(context, actor))
      },
      {
        readIssue: { scope },
        response: { 200: Issue, 304: Unchanged },
        detail: { operationId: 'issueGetIssue', summary: 'An issue by its number' },
      },
    )
    .patch(
      '/:index',
      async ({ actor, repo, issue, body, status }) => {
        const edited = await editIssue(context, { actor, repo }, { issue: issue.issue, option: body })
        const [loaded] = await loadIssues(context.db, [{ issue: edited, version: '' }])
        // Wire: a changed issue is answered with 201.
        return status(201, presentIssue(existing(loaded), shownPlace(repo), viewerOf(context, actor)))
      },
      {
        changeIssue: { scope, level: 'read' },
        body: EditIssueOption,
        response: { 201: Issue },
        detail: {
          operationId: 'issueEditIssue',
          summary: 'Change an issue. The deadline is gone with `unset_due_date`',
          'x-refuses': [400, 409, 412],
        },
      },
    )
    .delete(
      '/:index',
      async ({ actor, repo, issue, set }) => {
        await deleteIssue(context, { actor, repo }, issue.issue)
        set.status = 204
      },
      {
        changeIssue: { scope, level: 'admin' },
        response: { 204: t.Void() },
        detail: { operationId: 'issueDelete', summary: 'Delete an issue' },
      },
    )

function queryOf(query: typeof listQuery.static): IssueQuery {
  return {
    ...readKinds(query),
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

const versions = (issues: readonly LoadedIssue[]): string[] => issues.map(({ version }) => version)

function existing(issue: LoadedIssue | undefined): LoadedIssue {
  if (issue === undefined) throw new Error('an issue that was just read is gone')
  return issue
}
