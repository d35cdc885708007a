import { Elysia, t } from 'elysia'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { paging } from '../../http/paging.ts'
import { cursorQuery, queryBoolean, queryText } from '../../http/query.ts'
import { viewerOf } from '../../http/viewer.ts'
import { parseDay } from '../../kernel/time.ts'
import { Activity, presentActivity } from '../../wire/activity.ts'
import { type Feed, listActivities } from './list.ts'

interface Target {
  request: Request
  set: { headers: Record<string, string | number | undefined> }
}

interface Asked {
  actor: Actor | undefined
  feed: Feed
  /** The person or organization whose feed it is. */
  of: number
  query: { page?: unknown; limit?: unknown; cursor?: unknown; date?: string | undefined }
}

async function show(context: Context, { actor, feed, of, query }: Asked, target: Target): Promise<Activity[]> {
  const { page, total: count } = paging(context, query, target)
  // Wire: a date that is none is no filter.
  const found = await listActivities(context, actor, { feed, day: parseDay(query.date ?? ''), page })
  count(found.total, found.next)
  const viewer = viewerOf(context, actor)
  return found.rows.map((row) => presentActivity(row, of, viewer))
}

const feedQuery = { ...cursorQuery, date: queryText({ description: 'A day such as 2026-01-31, in UTC' }) }
const response = { 200: t.Array(Activity) }

/** What happened lately, as each reader may know. */
export const activityRoutes = (context: Context) =>
  new Elysia({ name: 'activity' })
    .use(gate(context))
    .get(
      '/users/:username/activities/feeds',
      ({ actor, account: { row }, query, request, set }) => {
        const isHidden = row.hideActivity && actor?.user.id !== row.id && !actor?.user.isAdmin
        const onlyPerformed = query['only-performed-by'] === true || isHidden
        const person: Feed = { personId: isHidden ? 0 : row.id, onlyPerformed }
        const feed: Feed = row.kind === 'organization' ? { organizationId: row.id } : person
        return show(context, { actor, feed, of: row.id, query }, { request, set })
      },
      {
        readUser: { scope: 'user' },
        query: t.Object({ ...feedQuery, 'only-performed-by': queryBoolean() }),
        response,
        detail: {
          operationId: 'userListActivityFeeds',
          summary: 'Activities of a user',
          tags: ['user'],
          'x-list': 'total',
        },
      },
    )
    .get(
      '/orgs/:org/activities/feeds',
      ({ actor, org, query, request, set }) =>
        show(context, { actor, feed: { organizationId: org.row.id }, of: org.row.id, query }, { request, set }),
      {
        readOrg: { scope: 'organization' },
        query: t.Object(feedQuery),
        response,
        detail: {
          operationId: 'orgListActivityFeeds',
          summary: 'Activities in an organization',
          tags: ['organization'],
          'x-list': 'total',
        },
      },
    )
    .get(
      '/teams/:id/activities/feeds',
      ({ actor, team: { row, organization }, query, request, set }) => {
        const feed = { teamId: row.id, organizationId: organization.id }
        return show(context, { actor, feed, of: organization.id, query }, { request, set })
      },
      {
        team: { scope: 'organization' },
        query: t.Object(feedQuery),
        response,
        detail: {
          operationId: 'orgListTeamActivityFeeds',
          summary: "Activities in a team's repositories",
          tags: ['organization'],
          'x-list': 'total',
        },
      },
    )
    .get(
      '/repos/:owner/:repo/activities/feeds',
      ({ actor, repo, query, request, set }) => {
        const feed = { repositoryId: repo.repository.id }
        return show(context, { actor, feed, of: repo.owner.id, query }, { request, set })
      },
      {
        readRepo: { scope: 'repository' },
        query: t.Object(feedQuery),
        response,
        detail: {
          operationId: 'repoListActivityFeeds',
          summary: 'Activities in a repository',
          tags: ['repository'],
          'x-list': 'total',
        },
      },
    )
