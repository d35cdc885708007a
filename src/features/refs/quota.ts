import { eq } from 'drizzle-orm'
import { refs } from '../../../db/schema/refs.ts'
import type { Context } from '../../context.ts'
import { invalid } from '../../kernel/errors.ts'

/** Why the repository may not have so many more branches and tags; undefined when it may. Pushes at the same moment may pass together. */
export async function findQuotaExcess(
  { db, config }: Context,
  repositoryId: number,
  more: number,
): Promise<string | undefined> {
  if (more === 0) return undefined
  const there = await db.$count(refs, eq(refs.repositoryId, repositoryId))
  if (there + more <= config.maxRefs) return undefined
  return `a repository may have ${config.maxRefs} branches and tags at most (MAX_REFS)`
}

/** @throws Refusal 422 when the repository may not have one more */
export async function requireRefQuota(context: Context, repositoryId: number): Promise<void> {
  const excess = await findQuotaExcess(context, repositoryId, 1)
  if (excess !== undefined) throw invalid(excess)
}
