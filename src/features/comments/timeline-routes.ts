import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { Unchanged, unchangedAnswer } from '../../http/answers.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { cursorQuery, queryInstant } from '../../http/query.ts'
import { viewerOf } from '../../http/viewer.ts'
import { presentTimelineComment, TimelineComment } from '../../wire/timeline.ts'
import { presentLoaded } from '../issues/elsewhere.ts'
import { shownPlace } from '../issues/place.ts'
import { loadShownIssues } from './shown-issues.ts'
import { listTimeline } from './timeline-store.ts'

const timelineQuery = t.Object({ ...cursorQuery, since: queryInstant('since'), before: queryInstant('before') })

/** Comments, and what happened to an issue between them. */
export const timelineRoutes = (context: Context) =>
  new Elysia({ name: 'timeline', prefix: '/repos/:owner/:repo/issues/:index/timeline', detail: { tags: ['issue'] } })
    .use(gate(context))
    .get(
      '',
      async ({ actor, repo, issue: { issue }, query, request, set }) => {
        const { page, total } = paging(context, query, { request, set })
        const found = await listTimeline(context, actor, { issue, range: query, page })
        total(found.total, found.next)
        const shown = await loadShownIssues(context.db, found.rows)
        const versions = [...shown, ...found.rows].map(({ version }) => version)
        const unchanged = unchangedAnswer(context, { actor, request, set }, [repo.version, found.total, ...versions])
        if (unchanged) return unchanged
        const viewer = viewerOf(context, actor)
        const issues = new Map(presentLoaded(context, actor, shown).map((one) => [one.id, one]))
        const place = { ...shownPlace(repo), issues }
        return found.rows.map((row) => presentTimelineComment(row, place, viewer))
      },
      {
        readIssue: { scope: 'issue' },
        query: timelineQuery,
        response: { 200: t.Array(TimelineComment), 304: Unchanged },
        detail: {
          operationId: 'issueGetCommentsAndTimeline',
          summary: 'List comments and what happened to an issue, the oldest first',
          'x-list': 'total',
          'x-refuses': [422],
        },
      },
    )
