import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { unchangedAnswer } from '../../http/freshness.ts'
import { viewerOf } from '../../http/viewer.ts'
import { presentRepository, type Repository } from '../../wire/repository.ts'
import type { RepositoryPage } from './list.ts'

type Target = Pick<Parameters<typeof unchangedAnswer>[1], 'request' | 'set'>

/** It is 304 when nothing on the page has changed, before the page is made. */
export function presentPage(
  context: Context,
  actor: Actor | undefined,
  { rows, total }: RepositoryPage,
  target: Target,
): Repository[] | Response {
  const unchanged = unchangedAnswer(context, { actor, ...target }, [total, ...rows.map(({ version }) => version)])
  if (unchanged) return unchanged
  const viewer = viewerOf(context, actor)
  return rows.map((row) => presentRepository(row, viewer))
}
