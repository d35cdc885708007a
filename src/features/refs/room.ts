import { eq } from 'drizzle-orm'
import { refs } from '../../../db/schema/refs.ts'
import type { Context } from '../../context.ts'
import { invalid } from '../../kernel/errors.ts'

/** Why so many more branches and tags cannot be; undefined when there is room. Looked at before: pushes at one instant may pass together. */
export async function findLackOfRoom(
  { db, config }: Context,
  repositoryId: number,
  more: number,
): Promise<string | undefined> {
  if (more === 0) return undefined
  const there = await db.$count(refs, eq(refs.repositoryId, repositoryId))
  if (there + more <= config.maxRefs) return undefined
  return `a repository may have ${config.maxRefs} branches and tags at most (MAX_REFS)`
}

/** @throws Refusal 422 when there is no room for one more */
export async function requireRoomForRef(context: Context, repositoryId: number): Promise<void> {
  const lack = await findLackOfRoom(context, repositoryId, 1)
  if (lack !== undefined) throw invalid(lack)
}
