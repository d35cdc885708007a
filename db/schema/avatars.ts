import { pgTable, text } from 'drizzle-orm/pg-core'
import { bytes, createdAt } from './columns.ts'

/** Uploaded pictures of people, organizations and repositories, by the hash of their content: small, and shared by all replicas. */
export const avatars = pgTable('avatars', {
  hash: text().primaryKey(),
  mediaType: text().notNull(),
  content: bytes().notNull(),
  createdAt: createdAt(),
})
export type AvatarRow = typeof avatars.$inferSelect
