import { sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { comments, issues } from '../../../db/schema/issues.ts'
import type { NotificationRow } from '../../../db/schema/notifications.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import type { ShownThread } from '../../wire/notification.ts'
import { loadRepositoriesById } from '../repositories/load.ts'

/** What threads show beside their own row: a fixed number of statements for any page. */
export async function loadThreads(
  context: Context,
  actor: Actor,
  threads: readonly NotificationRow[],
): Promise<ShownThread[]> {
  if (threads.length === 0) return []
  const [repositories, subjects] = await Promise.all([
    loadRepositoriesById(context, actor, [...new Set(threads.map(({ repositoryId }) => repositoryId))]),
    loadSubjects(
      context.db,
      threads.map(({ issueId }) => issueId),
    ),
  ])
  const repositoryById = new Map(repositories.map((shown) => [shown.repository.id, shown]))
  const subjectById = new Map(subjects.map((subject) => [subject.id, subject]))
  return threads.flatMap((thread) => {
    const [repository, subject] = [repositoryById.get(thread.repositoryId), subjectById.get(thread.issueId)]
    // Deleted or hidden between two statements.
    return repository && subject ? [{ thread, repository, subject }] : []
  })
}

const loadSubjects = (db: Db, ids: readonly number[]) =>
  db
    .select({
      id: issues.id,
      number: issues.number,
      title: issues.title,
      isPull: issues.isPull,
      isClosed: issues.isClosed,
      lastCommentId: sql<number | null>`(
        select id from ${comments} where issue_id = ${issues}.id and kind = 'comment'
        order by created_at desc, id desc limit 1)`.mapWith(comments.id),
    })
    .from(issues)
    .where(anyOf(issues.id, ids))
