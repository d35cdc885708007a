import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { comments, issueAssignees, issueSubscriptions, issues } from '../../../db/schema/issues.ts'
import { notifications } from '../../../db/schema/notifications.ts'
import { teamMembers, teams } from '../../../db/schema/organizations.ts'
import { repositories, watches } from '../../../db/schema/repositories.ts'
import { blocks, users } from '../../../db/schema/users.ts'
import { unitSwitch } from '../../access/unit-switch.ts'
import { readableBy, readers } from '../../access/visible.ts'
import type { News } from './news.ts'

/** A place in the order of receivers. */
export interface Receiver {
  userId: number
  issueId: number
}

interface Part {
  at: Date
  after: Receiver | undefined
  limit: number
}

/**
 * Notifies those concerned of the news, in one statement: who watches the repository or asked for the issue, its author, who commented
 * or works on it, and who is called by name or in a team of the owner. Never who did it, who asked for silence about the issue or ignores
 * the repository without having asked for the issue, who blocked the one who did it, nor who cannot sign in or may not read it now. A
 * thread notes an event once: the same news again change nothing.
 * @returns where to go on, when there may be more
 */
export async function notifyReceivers(
  db: Db,
  news: readonly News[],
  { at, after, limit }: Part,
): Promise<Receiver | undefined> {
  const time = at.toISOString()
  const [last] = await db.execute<{ userId: number; issueId: number; people: number }>(sql`
    with news as materialized (${givenNews(news)}),
    concerned as (${concerned}),
    chosen as materialized (
      select ${readers.id} as user_id, news.issue_id, news.repository_id, news.is_pull, max(news.event_id) as event_id
      from concerned join news using (event_id)
      join ${users} as ${readers} on ${readers.id} = concerned.user_id
      join ${repositories} on ${repositories.id} = news.repository_id
      join ${users} on ${users.id} = ${repositories.ownerId}
      where (${readers.id}, news.issue_id) > (${after?.userId ?? 0}::bigint, ${after?.issueId ?? 0}::bigint)
        and ${mayBeNotified}
      group by ${readers.id}, news.issue_id, news.repository_id, news.is_pull
      order by ${readers.id}, news.issue_id limit ${limit}),
    notified as (
      insert into ${notifications} (user_id, repository_id, issue_id, is_pull, event_id, created_at, updated_at)
      select user_id, repository_id, issue_id, is_pull, event_id, ${time}::timestamptz, ${time}::timestamptz
      from chosen order by user_id, issue_id
      on conflict (issue_id, user_id) do update set event_id = excluded.event_id, updated_at = excluded.updated_at,
        status = case when ${notifications.status} = 'read' then 'unread' else ${notifications.status} end
      where ${notifications.eventId} < excluded.event_id)
    select user_id as "userId", issue_id as "issueId", (select count(*)::int from chosen) as people
    from chosen order by user_id desc, issue_id desc limit 1`)
  return last && last.people >= limit ? { userId: last.userId, issueId: last.issueId } : undefined
}

/** Arrays, because of as many rows as JSON may have PostgreSQL expects a hundred, and reads whole tables. */
const givenNews = (news: readonly News[]): SQL => sql`
  select given.event_id, given.actor_id, string_to_array(given.names, ' ') as names,
    string_to_array(given.only_ids, ' ')::bigint[] as only_ids,
    ${issues.id} as issue_id, ${issues.repositoryId} as repository_id, ${issues.isPull} as is_pull, ${issues.posterId} as poster_id
  from unnest(${arrayOf(news.map(({ eventId }) => eventId))}::bigint[], ${arrayOf(news.map(({ actorId }) => actorId))}::bigint[],
    ${arrayOf(news.map(({ issueId }) => issueId))}::bigint[],
    ${arrayOf(news.map(({ names }) => `"${names.join(' ')}"`))}::text[],
    ${arrayOf(news.map(({ onlyIds }) => onlyIds && `"${onlyIds.join(' ')}"`))}::text[])
    as given(event_id, actor_id, issue_id, names, only_ids)
  join ${issues} on ${issues.id} = given.issue_id`

/** As PostgreSQL writes an array. The names that texts call have no quotes and no backslashes. */
const arrayOf = (items: readonly (number | string | null)[]): string =>
  `{${items.map((item) => item ?? 'null').join(',')}}`

/** Pairs of an event and somebody, who may be gone. */
const concerned = sql`
  select event_id, ${watches.userId} as user_id from news
    join ${watches} on ${watches.repositoryId} = news.repository_id and ${watches.isSubscribed} where only_ids is null
  union select event_id, poster_id from news where only_ids is null
  union select event_id, ${comments.posterId} from news
    join ${comments} on ${comments.issueId} = news.issue_id and ${comments.kind} = 'comment' where only_ids is null
  union select event_id, ${issueAssignees.userId} from news
    join ${issueAssignees} on ${issueAssignees.issueId} = news.issue_id where only_ids is null
  union select event_id, ${issueSubscriptions.userId} from news
    join ${issueSubscriptions} on ${issueSubscriptions.issueId} = news.issue_id and ${issueSubscriptions.isSubscribed}
    where only_ids is null
  union select event_id, ${users.id} from news join ${users} on ${users.lowerName} = any(names)
  -- Teams of the repository's owner.
  union select event_id, ${teamMembers.userId} from news cross join unnest(names) as called (name)
    join ${repositories} on ${repositories.id} = news.repository_id
    join ${users} on ${users.id} = ${repositories.ownerId} and ${users.lowerName} = split_part(called.name, '/', 1)
    join ${teams} on ${teams.organizationId} = ${users.id} and ${teams.lowerName} = split_part(called.name, '/', 2)
    join ${teamMembers} on ${teamMembers.teamId} = ${teams.id}
  union select event_id, unnest(only_ids) from news`

const mayBeNotified = sql`
  ${readers.kind} = 'user' and ${readers.isActive} and not ${readers.prohibitLogin}
  and ${readers.id} is distinct from news.actor_id
  -- As they asked about the issue, or else about the repository.
  and coalesce(
    (select ${issueSubscriptions.isSubscribed} from ${issueSubscriptions}
      where ${issueSubscriptions.issueId} = news.issue_id and ${issueSubscriptions.userId} = ${readers.id}),
    (select ${watches.isSubscribed} from ${watches}
      where ${watches.repositoryId} = news.repository_id and ${watches.userId} = ${readers.id}),
    true)
  and not exists (
    select 1 from ${blocks} where ${blocks.blockerId} = ${readers.id} and ${blocks.blockedId} = news.actor_id)
  and case when news.is_pull then ${unitSwitch['repo.pulls']} and ${readableBy('repo.pulls')}
    else ${unitSwitch['repo.issues']} and ${readableBy('repo.issues')} end`
