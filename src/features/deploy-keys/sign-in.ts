import type { UserRow } from '../../../db/schema/users.ts'
import { findRepository } from '../../access/load.ts'
import type { Context } from '../../context.ts'
import { readName } from '../../http/git-gate.ts'
import { notFound } from '../../kernel/errors.ts'
import { findDeployKey } from './store.ts'

/**
 * What a deploy key may do with the repository of a path, or with its wiki.
 * @throws Refusal 404 in the same words for one that it does not open, be it hidden or public, and for an unknown one
 */
export async function openByDeployKey(
  { db }: Context,
  keyId: number,
  { owner, repo }: { owner: string; repo: string },
): Promise<{ repositoryId: number; owner: UserRow; isReadOnly: boolean }> {
  const found = await findRepository(db, { owner, name: readName(repo).name }, undefined)
  const opened = await findDeployKey(db, { repositoryId: found?.repository.id ?? 0, keyId })
  if (!found || !opened) throw notFound('repository not found')
  return { repositoryId: found.repository.id, owner: found.owner, isReadOnly: opened.deployKey.isReadOnly }
}
