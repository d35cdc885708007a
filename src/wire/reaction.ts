import { t } from 'elysia'
import type { ReactionRow } from '../../db/schema/reactions.ts'
import type { UserRow } from '../../db/schema/users.ts'
import { wireTime } from '../kernel/time.ts'
import { presentUser, User } from './user.ts'
import type { Viewer } from './viewer.ts'

/** Wire: the words that people can react with, in Gitea's order. */
export const REACTIONS: readonly string[] = ['+1', '-1', 'laugh', 'hooray', 'confused', 'heart', 'rocket', 'eyes']

export type Reaction = typeof Reaction.static
export const Reaction = t.Object(
  { user: User, content: t.String(), created_at: t.String({ format: 'date-time' }) },
  { $id: 'Reaction' },
)

export interface ShownReaction {
  reaction: ReactionRow
  user: UserRow
}

export const presentReaction = ({ reaction, user }: ShownReaction, viewer: Viewer): Reaction => ({
  user: presentUser(user, viewer),
  content: reaction.content,
  created_at: wireTime(reaction.createdAt),
})
