import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { cursorQuery, queryBoolean, queryInstant, queryInteger, queryList, queryText } from '../../http/query.ts'
import { Issue } from '../../wire/issue.ts'
import { presentElsewhere } from '../issues/elsewhere.ts'
import { readKinds } from '../issues/filter.ts'
import { ownParts, type SearchQuery, searchFilter } from './filter.ts'
import { searchIssues } from './list.ts'

const searchQuery = t.Object({
  ...cursorQuery,
  state: queryText({ description: 'Without it: open', enum: ['open', 'closed', 'all'] }),
  labels: queryList({ description: 'Names; issues that carry any of them' }),
  milestones: queryList({ description: 'Titles; issues of any of them' }),
  q: queryText({ description: 'Words that all stand in title, body or comments; what fits best comes first' }),
  priority_repo_id: queryInteger({ description: 'Has no effect' }),
  type: queryText({ description: 'Without it: both', enum: ['issues', 'pulls'] }),
  since: queryInstant('since'),
  before: queryInstant('before'),
  assigned: queryBoolean({ description: 'To you' }),
  created: queryBoolean({ description: 'By you' }),
  mentioned: queryBoolean({ description: 'You, by @name' }),
  review_requested: queryBoolean({ description: 'From you' }),
  reviewed: queryBoolean({ description: 'By you' }),
  owner: queryText({ description: 'Of repositories' }),
  created_by: queryText(),
  team: queryText({ description: 'Issues of the repositories of this team of the owner' }),
})

/** The issues and pull requests of all repositories. */
export const issueSearchRoutes = (context: Context) =>
  new Elysia({ name: 'issue-search', prefix: '/repos/issues/search', detail: { tags: ['issue'] } })
    .use(gate(context))
    .get(
      '',
      async ({ actor, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const filter = await searchFilter(context, actor, queryOf(query))
        const found = await searchIssues(context, actor, filter, page)
        links(found.total, found.next)
        return presentElsewhere(context, actor, found.rows)
      },
      {
        open: { scope: 'issue' },
        query: searchQuery,
        response: { 200: t.Array(Issue) },
        detail: {
          operationId: 'issueSearchIssues',
          summary: 'Search issues of all repositories',
          'x-list': 'links',
          'x-refuses': [400, 404, 422],
        },
      },
    )

const queryOf = (query: typeof searchQuery.static): SearchQuery => ({
  ...readKinds(query),
  labels: query.labels ?? [],
  milestones: query.milestones ?? [],
  text: query.q,
  since: query.since,
  before: query.before,
  owner: query.owner,
  team: query.team,
  createdBy: query.created_by,
  own: ownParts.filter((part) => query[part] === true),
})
