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
    status_check_contexts: t.Nullable(t.Array(t.String())),
    user_can_push: t.Boolean(),
    user_can_merge: t.Boolean(),
    effective_branch_protection_name: t.String(),
  },
  { $id: 'Branch' },
)

export interface ShownProtection {
  /** For those who may change rules; else ''. */
  name: string
  requiredApprovals: number
  enableStatusCheck: boolean
  statusCheckContexts: string[] | null
  mayPush: boolean
  mayMerge: boolean
}

interface Surroundings {
  htmlUrl: string
  mayWrite: boolean
  /** What the rule says that holds for the branch, if one does. */
  protection: ShownProtection | undefined
  /** Account names by address in lower case. */
  names: ReadonlyMap<string, string>
  /** Of the signature of the commit. */
  verdict?: Verdict
}

export function presentBranch(row: RefRow, { htmlUrl, mayWrite, protection, names, verdict }: Surroundings): Branch {
  return {
    name: row.name,
    commit: row.commit && presentPayloadCommit({ sha: row.sha, commit: row.commit, htmlUrl, names, verdict }),
    protected: protection !== undefined,
    required_approvals: protection?.requiredApprovals ?? 0,
    enable_status_check: protection?.enableStatusCheck ?? false,
    // Wire: null where a rule does not say, [] where there is none.
    status_check_contexts: protection ? protection.statusCheckContexts : [],
    user_can_push: mayWrite && (protection?.mayPush ?? true),
    user_can_merge: mayWrite && (protection?.mayMerge ?? true),
    effective_branch_protection_name: protection?.name ?? '',
  }
}
