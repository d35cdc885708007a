import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { viewerOf } from '../../http/viewer.ts'
import { presentRepository, type Repository } from '../../wire/repository.ts'
import type { RepositoryPage } from './list.ts'

export function presentPage(
  context: Context,
  actor: Actor | undefined,
  { rows }: Pick<RepositoryPage, 'rows'>,
): Repository[] {
  const viewer = viewerOf(context, actor)
  return rows.map((row) => presentRepository(row, viewer))
}
