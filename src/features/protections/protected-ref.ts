import type { Db } from '../../../db/client.ts'
import type { RefName } from '../refs/names.ts'
import { loadBranchRules, loadTagRules } from './load.ts'
import { findBranchRule, findTagRules } from './rules.ts'

/** Whether a rule stands over a branch or tag. */
export async function isProtectedRef(db: Db, repositoryId: number, { kind, name }: RefName): Promise<boolean> {
  if (kind === 'branch') return findBranchRule(await loadBranchRules(db, repositoryId), name) !== undefined
  return findTagRules(await loadTagRules(db, repositoryId), name).length > 0
}
