import type { RepositoryRow } from '../../../db/schema/repositories.ts'
import { judge } from '../../access/decide.ts'
import { findRepository, findRepositoryById } from '../../access/load.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import type { Call, LoggedCommit } from '../../git/model.ts'
import { withRights } from '../../http/repository-gate.ts'
import { notFound } from '../../kernel/errors.ts'
import { getRevision } from './revision.ts'
import { findRelatedId } from './store.ts'

/** Commits shown of a comparison; all of them are counted. */
const MAX_COMPARED = 250

export interface Comparison {
  base: string
  head: string
  total: number
  read(withChanges: boolean): Promise<LoggedCommit[]>
}

interface Asked {
  actor: Actor | undefined
  pair: string
  call: Call
}

/**
 * What the head has and the base has not. Wire: `base...head` and `base..head` mean the same, and a name alone is compared with
 * the default branch. The head may be in another repository of the same forks: `owner:branch`, `owner/name:branch`.
 * @throws Refusal 404 for an unknown side, and for a repository that the caller may not read
 */
export async function compare(
  context: Context,
  repo: RepositoryAccess,
  { actor, pair, call }: Asked,
): Promise<Comparison> {
  const [, left, right] = /^(.*?)\.{2,3}(.*)$/.exec(pair) ?? [undefined, undefined, pair]
  const [, owner, name, revision] = /^([^/:]+)(?:\/([^/:]+))?:(.+)$/.exec(right ?? '') ?? []
  const other = owner === undefined ? repo : await relatedRepository(context, actor, repo, { owner, name })
  const [{ commit: base }, { commit: head }] = await Promise.all([
    getRevision(context, repo, left || undefined),
    getRevision(context, other, revision ?? (right || undefined)),
  ])
  const { git } = context
  const { id } = other.repository
  const range = { revision: head.sha, notIn: { repositoryId: repo.repository.id, revision: base.sha } }
  const total = await git.countCommits(id, range, call)
  const read = (withChanges: boolean) => git.log(id, { ...range, limit: MAX_COMPARED, withChanges }, call)
  return { base: base.sha, head: head.sha, total, read }
}

async function relatedRepository(
  context: Context,
  actor: Actor | undefined,
  { repository: base }: RepositoryAccess,
  { owner, name }: { owner: string; name: string | undefined },
): Promise<RepositoryAccess> {
  const { db } = context
  const reader = actor?.user.id
  const id = name === undefined ? await findRelatedId(db, base, owner) : undefined
  const loaded =
    name === undefined
      ? id && (await findRepositoryById(db, id, reader))
      : await findRepository(db, { owner, name }, reader)
  const found = loaded ? withRights(context, actor, loaded) : undefined
  const mayRead = found && judge(actor, found, { unit: 'repo.code', level: 'read', isChange: false }) === 'granted'
  if (!mayRead || !areRelated(found.repository, base)) throw notFound()
  return found
}

type Related = Pick<RepositoryRow, 'id' | 'parentId'>

/** The same repository, a fork and its parent, or two forks of one parent. */
const areRelated = (one: Related, other: Related): boolean =>
  [other.id, other.parentId].includes(one.id) ||
  (one.parentId !== null && [other.id, other.parentId].includes(one.parentId))
