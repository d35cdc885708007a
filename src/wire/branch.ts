import { t } from 'elysia'
import type { RefRow } from '../../db/schema/refs.ts'
import { int64 } from './fields.ts'
import { PayloadCommit, presentPayloadCommit, type Verdict } from './payload-commit.ts'

export type Branch = typeof Branch.static
export const Branch = t.Object(
  {
    name: t.String(),
    commit: t.Union([PayloadCommit, t.Null()]),
    protected: t.Boolean(),
    required_approvals: int64(),
    enable_status_check: t.Boolean(),
    status_check_contexts: t.Array(t.String()),
    user_can_push: t.Boolean(),
    user_can_merge: t.Boolean(),
    effective_branch_protection_name: t.String(),
  },
  { $id: 'Branch' },
)

interface Surroundings {
  htmlUrl: string
  mayWrite: boolean
  /** Account names by address in lower case. */
  names: ReadonlyMap<string, string>
  /** Of the signature of the commit. */
  verdict?: Verdict
}

/** A branch without protection rules. */
export function presentBranch(row: RefRow, { htmlUrl, mayWrite, names, verdict }: Surroundings): Branch {
  return {
    name: row.name,
    commit: row.commit && presentPayloadCommit({ sha: row.sha, commit: row.commit, htmlUrl, names, verdict }),
    protected: false,
    required_approvals: 0,
    enable_status_check: false,
    status_check_contexts: [],
    user_can_push: mayWrite,
    user_can_merge: mayWrite,
    effective_branch_protection_name: '',
  }
}
