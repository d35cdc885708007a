import { and, eq, type SQL, sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { comments, issues } from '../../../db/schema/issues.ts'
import { repositoryCounters } from '../../../db/schema/repositories.ts'
import type { StoredEvent } from '../../events/catalogue.ts'
import { mentionedNames } from '../../render/mentions.ts'

export const notifiedKinds = [
  'issue.created',
  'issue.closed',
  'issue.reopened',
  'issue.assigned',
  'comment.created',
] as const
export type NotifiedEvent = StoredEvent<(typeof notifiedKinds)[number]>

/** What one event has to say, and to whom beside those who follow the issue. */
export interface News {
  eventId: number
  actorId: number | null
  issueId: number
  /** Names of people, and of teams as `organization/team`, in lower case. */
  names: string[]
  /** Only these are notified; null for all who follow the issue. */
  onlyIds: number[] | null
  /** About how many people will be notified. */
  weight: number
}

/** In the order of the events; without those whose issue has gone. */
export async function readNews(db: Db, events: readonly NotifiedEvent[]): Promise<News[]> {
  const issueIds = [...new Set(events.map(({ payload }) => payload.issueId))]
  const commentIds = events.flatMap(({ kind, payload }) => (kind === 'comment.created' ? [payload.commentId] : []))
  const [subjects, texts] = await Promise.all([findIssues(db, issueIds), findComments(db, commentIds)])
  const subjectOf = new Map(subjects.map((subject) => [subject.id, subject]))
  const textOf = new Map(texts.map(({ id, calling }) => [id, calling]))
  return events.flatMap((event) => {
    const { id: eventId, actorId, kind, payload } = event
    const subject = subjectOf.get(payload.issueId)
    if (!subject) return []
    const text =
      kind === 'comment.created' ? textOf.get(payload.commentId) : kind === 'issue.created' ? subject.calling : ''
    const onlyIds = kind === 'issue.assigned' ? payload.userIds : null
    const weight = 1 + (onlyIds?.length ?? subject.watchersCount)
    return [{ eventId, actorId, issueId: subject.id, names: mentionedNames(text ?? ''), onlyIds, weight }]
  })
}

/** The text, if it may call anybody: most call nobody and need not be read. */
const calling = (body: SQL | typeof issues.body | typeof comments.body): SQL<string> =>
  sql<string>`case when ${body} like '%@%' then ${body} else '' end`

async function findIssues(db: Db, ids: readonly number[]) {
  if (ids.length === 0) return []
  return db
    .select({ id: issues.id, calling: calling(issues.body), watchersCount: repositoryCounters.watchersCount })
    .from(issues)
    .innerJoin(repositoryCounters, eq(repositoryCounters.repositoryId, issues.repositoryId))
    .where(anyOf(issues.id, ids))
}

async function findComments(db: Db, ids: readonly number[]) {
  if (ids.length === 0) return []
  return db
    .select({ id: comments.id, calling: calling(comments.body) })
    .from(comments)
    .where(and(anyOf(comments.id, ids), eq(comments.kind, 'comment')))
}

/** Cuts news into parts that notify about `most` people each; one that notifies more is a part of its own. */
export function inParts(all: readonly News[], most: number): News[][] {
  const parts: News[][] = []
  let [part, weight]: [News[], number] = [[], 0]
  for (const one of all) {
    if (part.length > 0 && weight + one.weight > most) {
      parts.push(part)
      part = []
      weight = 0
    }
    part.push(one)
    weight += one.weight
  }
  return part.length === 0 ? parts : [...parts, part]
}
