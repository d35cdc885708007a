import type { Db } from '../../../db/client.ts'
import type { ProtectionList } from '../../../db/schema/protections.ts'
import { violatedConstraint } from '../../../db/violations.ts'
import { requireOwnedQuota } from '../../access/quota.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Context } from '../../context.ts'
import { badRequest, forbidden, invalid, notFound } from '../../kernel/errors.ts'
import type { ShownBranchProtection } from '../../wire/branch-protection.ts'
import { lockRepository } from '../refs/store.ts'
import { auditSubjectOf } from '../repositories/subject.ts'
import {
  copyRule,
  countRules,
  insertRule,
  type NewRule,
  nextPriority,
  removeRule,
  replaceListed,
  updatePriorities,
  updateRule,
} from './branch-store.ts'
import { findListedPeople, findListedTeams, loadNames, namesOf, type Subject } from './listed.ts'
import { loadBranchRules } from './load.ts'
import { type BranchRule, faultInFilePatterns, faultInRuleName, isPlainName } from './rules.ts'
import type { CreateBranchProtectionOption, EditBranchProtectionOption } from './schema.ts'

/** All rules of a repository, in the order in which they count. */
export async function listRules(
  { db }: Context,
  { repository }: Pick<RepositoryAccess, 'repository'>,
): Promise<ShownBranchProtection[]> {
  return show(db, await loadBranchRules(db, repository.id))
}

/** @throws Refusal 404 for what is not the name of a rule, also where a rule fits it */
export async function getRule(
  { db }: Context,
  { repository }: Pick<RepositoryAccess, 'repository'>,
  name: string,
): Promise<ShownBranchProtection> {
  const rules = await loadBranchRules(db, repository.id)
  const [shown] = await show(
    db,
    rules.filter(({ ruleName }) => ruleName === name),
  )
  if (!shown) throw notFound()
  return shown
}

async function show(db: Db, rules: readonly BranchRule[]): Promise<ShownBranchProtection[]> {
  const lists = rules.flatMap(({ lists }) => Object.values(lists))
  const names = await loadNames(db, {
    people: lists.flatMap(({ people }) => people),
    teams: lists.flatMap(({ teams }) => teams),
  })
  return rules.map(({ lists, ...row }) => {
    const each = (of: (list: ProtectionList) => string[]) => ({
      push: of('push'),
      force_push: of('force_push'),
      merge: of('merge'),
      approvals: of('approvals'),
    })
    return {
      ...row,
      isGlob: !isPlainName(row.ruleName),
      people: each((list) => namesOf(names.people, lists[list].people)),
      teams: each((list) => namesOf(names.teams, lists[list].teams)),
    }
  })
}

/** @throws Refusal 400 without a name, 403 when the name is in use, 422 for a pattern that is none and for unknown people and teams */
export async function createRule(
  context: Context,
  subject: Subject,
  option: CreateBranchProtectionOption,
): Promise<ShownBranchProtection> {
  const { repository } = subject.repo
  const ruleName = option.rule_name || option.branch_name
  if (!ruleName) throw badRequest('both rule_name and branch_name are empty')
  const fault = faultInRuleName(ruleName)
  if (fault !== undefined) throw invalid(fault, 'rule_name')
  const lists = await findLists(context, subject, option)
  try {
    await context.db.transaction(async (tx) => {
      // Of two at once each is to have a priority of its own.
      if (!(await lockRepository(tx, repository.id))) throw notFound()
      const priority = option.priority || (await nextPriority(tx, repository.id))
      const row = await insertRule(tx, { ...columnsOf(option), repositoryId: repository.id, ruleName, priority })
      await requireOwnedQuota(tx, context.config, {
        items: 'rules for branches',
        of: `repository ${repository.id}`,
        count: () => countRules(tx, repository.id),
      })
      await writeLists(tx, row.id, lists)
      await recordAudit(tx, subject.actor, {
        action: 'branch_protection.create',
        subject: auditSubjectOf(subject.repo),
        after: { rule: ruleName, ...option },
      })
    })
  } catch (error) {
    if (violatedConstraint(error) === 'branch_protections_name_key') throw forbidden('Branch protection already exist')
    throw error
  }
  return getRule(context, subject.repo, ruleName)
}

/** @throws Refusal 404 for an unknown rule, 422 as `createRule` */
export async function editRule(
  context: Context,
  subject: Subject,
  { name, option }: { name: string; option: EditBranchProtectionOption },
): Promise<ShownBranchProtection> {
  const place = { repositoryId: subject.repo.repository.id, ruleName: name }
  await getRule(context, subject.repo, name)
  const lists = await findLists(context, subject, option)
  await context.db.transaction(async (tx) => {
    const row = await updateRule(tx, place, columnsOf(option))
    if (!row) throw notFound()
    await writeLists(tx, row.id, lists)
    await recordAudit(tx, subject.actor, {
      action: 'branch_protection.edit',
      subject: auditSubjectOf(subject.repo),
      after: { rule: name, ...option },
    })
  })
  return getRule(context, subject.repo, name)
}

/** @throws Refusal 404 */
export async function deleteRule(context: Context, subject: Subject, name: string): Promise<void> {
  await context.db.transaction(async (tx) => {
    const row = await removeRule(tx, { repositoryId: subject.repo.repository.id, ruleName: name })
    if (!row) throw notFound()
    await recordAudit(tx, subject.actor, {
      action: 'branch_protection.delete',
      subject: auditSubjectOf(subject.repo),
      before: { rule: row.ruleName },
    })
  })
}

/** @throws Refusal 404 when one of the rules is not there: then none changed */
export async function orderRules(context: Context, { repo }: Subject, ids: readonly number[]): Promise<void> {
  const distinct = [...new Set(ids)]
  await context.db.transaction(async (tx) => {
    await lockRepository(tx, repo.repository.id)
    if (!(await updatePriorities(tx, repo.repository.id, distinct))) throw notFound()
  })
}

/**
 * Renames a branch that a rule of its own protects, and the rule with it. While `rename` works both names are protected; a crash in
 * between leaves a rule too many and no branch without its own.
 * @throws Refusal 422 when there is a rule of the new name, and whatever `rename` throws: then nothing has changed
 */
export async function renameWithRule(
  { db }: Context,
  names: { repositoryId: number; from: string; to: string },
  rename: () => Promise<void>,
): Promise<void> {
  const { repositoryId, from, to } = names
  const target = { repositoryId, ruleName: to }
  try {
    await db.transaction((tx) => copyRule(tx, { repositoryId, ruleName: from }, to))
  } catch (error) {
    if (violatedConstraint(error) === 'branch_protections_name_key')
      throw invalid('A rule for branches has the new name already.')
    throw error
  }
  await rename().catch(async (error: unknown) => {
    await removeRule(db, target)
    throw error
  })
  await db.transaction(async (tx) => {
    await removeRule(tx, target)
    await updateRule(tx, { repositoryId, ruleName: from }, { ruleName: to })
  })
}

interface Lists {
  list: ProtectionList
  people: number[] | undefined
  teams: number[] | undefined
}

/** Who is to stand on which list; undefined where a list stays as it is. */
async function findLists(
  context: Context,
  subject: Subject,
  option: EditBranchProtectionOption,
): Promise<readonly Lists[]> {
  const asked = [
    ['push', option.push_whitelist_usernames, option.push_whitelist_teams],
    ['force_push', option.force_push_allowlist_usernames, option.force_push_allowlist_teams],
    ['merge', option.merge_whitelist_usernames, option.merge_whitelist_teams],
    ['approvals', option.approvals_whitelist_username, option.approvals_whitelist_teams],
  ] as const
  return Promise.all(
    asked.map(async ([list, people, teams]) => {
      const level = list === 'approvals' ? 'read' : 'write'
      return {
        list,
        people: people && (await findListedPeople(context, subject, { names: people, level })),
        teams: teams && (await findListedTeams(context, subject, teams)),
      }
    }),
  )
}

async function writeLists(tx: Db, protectionId: number, lists: readonly Lists[]): Promise<void> {
  for (const { list, people, teams } of lists) await replaceListed(tx, { protectionId, list }, { people, teams })
}

/** @throws Refusal 422 for patterns that are none */
function columnsOf(option: EditBranchProtectionOption): Partial<NewRule> {
  for (const field of ['protected_file_patterns', 'unprotected_file_patterns'] as const) {
    const fault = faultInFilePatterns(option[field] ?? '')
    if (fault !== undefined) throw invalid(fault, field)
  }
  return {
    // Zero is what clients send that know no priorities.
    priority: option.priority || undefined,
    enablePush: option.enable_push,
    enablePushWhitelist: option.enable_push_whitelist,
    pushWhitelistDeployKeys: option.push_whitelist_deploy_keys,
    enableForcePush: option.enable_force_push,
    enableForcePushAllowlist: option.enable_force_push_allowlist,
    forcePushAllowlistDeployKeys: option.force_push_allowlist_deploy_keys,
    enableMergeWhitelist: option.enable_merge_whitelist,
    enableStatusCheck: option.enable_status_check,
    statusCheckContexts: option.status_check_contexts,
    requiredApprovals: option.required_approvals,
    enableApprovalsWhitelist: option.enable_approvals_whitelist,
    blockOnRejectedReviews: option.block_on_rejected_reviews,
    blockOnOfficialReviewRequests: option.block_on_official_review_requests,
    blockOnOutdatedBranch: option.block_on_outdated_branch,
    dismissStaleApprovals: option.dismiss_stale_approvals,
    ignoreStaleApprovals: option.ignore_stale_approvals,
    requireSignedCommits: option.require_signed_commits,
    protectedFilePatterns: option.protected_file_patterns,
    unprotectedFilePatterns: option.unprotected_file_patterns,
    blockAdminMergeOverride: option.block_admin_merge_override,
  }
}
