import { t } from 'elysia'
import type { BranchProtectionRow, ProtectionList } from '../../db/schema/protections.ts'
import { wireTime } from '../kernel/time.ts'
import { int64 } from './fields.ts'

export type BranchProtection = typeof BranchProtection.static
export const BranchProtection = t.Object(
  {
    branch_name: t.String({ description: 'Empty for a glob' }),
    rule_name: t.String(),
    priority: int64(),
    enable_push: t.Boolean(),
    enable_push_whitelist: t.Boolean(),
    push_whitelist_usernames: t.Array(t.String()),
    push_whitelist_teams: t.Array(t.String()),
    push_whitelist_deploy_keys: t.Boolean(),
    enable_force_push: t.Boolean(),
    enable_force_push_allowlist: t.Boolean(),
    force_push_allowlist_usernames: t.Array(t.String()),
    force_push_allowlist_teams: t.Array(t.String()),
    force_push_allowlist_deploy_keys: t.Boolean(),
    enable_merge_whitelist: t.Boolean(),
    merge_whitelist_usernames: t.Array(t.String()),
    merge_whitelist_teams: t.Array(t.String()),
    enable_status_check: t.Boolean(),
    status_check_contexts: t.Nullable(t.Array(t.String())),
    required_approvals: int64(),
    enable_approvals_whitelist: t.Boolean(),
    approvals_whitelist_username: t.Array(t.String()),
    approvals_whitelist_teams: t.Array(t.String()),
    block_on_rejected_reviews: t.Boolean(),
    block_on_official_review_requests: t.Boolean(),
    block_on_outdated_branch: t.Boolean(),
    dismiss_stale_approvals: t.Boolean(),
    ignore_stale_approvals: t.Boolean(),
    require_signed_commits: t.Boolean(),
    protected_file_patterns: t.String(),
    unprotected_file_patterns: t.String(),
    block_admin_merge_override: t.Boolean(),
    created_at: t.String({ format: 'date-time' }),
    updated_at: t.String({ format: 'date-time' }),
  },
  { $id: 'BranchProtection' },
)

export interface ShownBranchProtection extends BranchProtectionRow {
  /** The names of those on each list. */
  people: Readonly<Record<ProtectionList, string[]>>
  teams: Readonly<Record<ProtectionList, string[]>>
  isGlob: boolean
}

/** Wire: a switch that depends on another one shows only together with it. */
export function presentBranchProtection(rule: ShownBranchProtection): BranchProtection {
  const { people, teams } = rule
  const hasPushList = rule.enablePush && rule.enablePushWhitelist
  const hasForceList = rule.enableForcePush && rule.enableForcePushAllowlist
  return {
    branch_name: rule.isGlob ? '' : rule.ruleName,
    rule_name: rule.ruleName,
    priority: rule.priority,
    enable_push: rule.enablePush,
    enable_push_whitelist: hasPushList,
    push_whitelist_usernames: people.push,
    push_whitelist_teams: teams.push,
    push_whitelist_deploy_keys: hasPushList && rule.pushWhitelistDeployKeys,
    enable_force_push: rule.enableForcePush,
    enable_force_push_allowlist: hasForceList,
    force_push_allowlist_usernames: people.force_push,
    force_push_allowlist_teams: teams.force_push,
    force_push_allowlist_deploy_keys: hasForceList && rule.forcePushAllowlistDeployKeys,
    enable_merge_whitelist: rule.enableMergeWhitelist,
    merge_whitelist_usernames: people.merge,
    merge_whitelist_teams: teams.merge,
    enable_status_check: rule.enableStatusCheck,
    status_check_contexts: rule.statusCheckContexts,
    required_approvals: rule.requiredApprovals,
    enable_approvals_whitelist: rule.enableApprovalsWhitelist,
    approvals_whitelist_username: people.approvals,
    approvals_whitelist_teams: teams.approvals,
    block_on_rejected_reviews: rule.blockOnRejectedReviews,
    block_on_official_review_requests: rule.blockOnOfficialReviewRequests,
    block_on_outdated_branch: rule.blockOnOutdatedBranch,
    dismiss_stale_approvals: rule.dismissStaleApprovals,
    ignore_stale_approvals: rule.ignoreStaleApprovals,
    require_signed_commits: rule.requireSignedCommits,
    protected_file_patterns: rule.protectedFilePatterns,
    unprotected_file_patterns: rule.unprotectedFilePatterns,
    block_admin_merge_override: rule.blockAdminMergeOverride,
    created_at: wireTime(rule.createdAt),
    updated_at: wireTime(rule.updatedAt),
  }
}
