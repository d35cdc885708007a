import { and, eq } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { afterPosition, inOrder, type SortKey } from '../../../db/keyset.ts'
import { type ReactionRow, reactions } from '../../../db/schema/reactions.ts'
import { users } from '../../../db/schema/users.ts'
import { cutPage, type Page, type Paged, rowsToRead, rowsToSkip } from '../../kernel/page.ts'
import type { ShownReaction } from '../../wire/reaction.ts'

/** What is reacted to. */
export type Subject = { issueId: number } | { commentId: number }

const of = (subject: Subject) =>
  'issueId' in subject ? eq(reactions.issueId, subject.issueId) : eq(reactions.commentId, subject.commentId)

const oldestFirst: SortKey[] = [{ key: reactions.id, type: 'bigint' }]

/** In the order in which they were made. */
export async function listReactions(db: Db, subject: Subject, page: Page): Promise<Paged<ShownReaction>> {
  const found = db
    .select({ reaction: reactions, user: users })
    .from(reactions)
    .innerJoin(users, eq(users.id, reactions.userId))
    .where(and(of(subject), afterPosition(oldestFirst, page.after)))
    .orderBy(inOrder(oldestFirst))
    .limit(rowsToRead(page))
    .offset(rowsToSkip(page))
  const [rows, total] = await Promise.all([found, db.$count(reactions, of(subject))])
  return cutPage(page, { rows, total }, ({ reaction }) => [String(reaction.id)])
}

export interface Reacting {
  subject: Subject
  userId: number
  content: string
}

const same = ({ subject, userId, content }: Reacting) =>
  and(of(subject), eq(reactions.userId, userId), eq(reactions.content, content))

/** Undefined when the same person has reacted with the same word before. */
export async function insertReaction(tx: Db, reacting: Reacting, at: Date): Promise<ReactionRow | undefined> {
  const { subject, userId, content } = reacting
  const [row] = await tx
    .insert(reactions)
    .values({ ...subject, userId, content, createdAt: at })
    .onConflictDoNothing()
    .returning()
  return row
}

export async function findReaction(tx: Db, reacting: Reacting): Promise<ReactionRow | undefined> {
  const [row] = await tx.select().from(reactions).where(same(reacting))
  return row
}

export async function removeReaction(tx: Db, reacting: Reacting): Promise<void> {
  await tx.delete(reactions).where(same(reacting))
}
