import type { PermissionWord } from '../../db/schema/organizations.ts'

/** What somebody may do with one unit of a repository. Levels are ordered: each includes those before it. */
export const Level = { none: 0, read: 1, write: 2, admin: 3, owner: 4 } as const
export type Level = (typeof Level)[PermissionWord]

const words: readonly PermissionWord[] = ['none', 'read', 'write', 'admin', 'owner']

export const levelWord = (level: Level): PermissionWord => words[level] ?? 'none'

export const higher = (left: Level, right: Level): Level => (left > right ? left : right)
