import { type BranchRule, filePatterns, findTagRules, type Listed, type TagRule } from './rules.ts'

/** Who moves a ref. That they may write to the repository is known already: rules only take away. */
export type Mover = { kind: 'person'; id: number; teams: ReadonlySet<number> } | { kind: 'deploy key' }

/** What is done to a protected branch. */
export type BranchMove =
  | { kind: 'delete' }
  | {
      kind: 'create' | 'update'
      /** Commits leave the branch. */
      isForced: boolean
      /** Paths that differ afterwards. They are asked for only where `asksForPaths`. */
      paths: readonly string[]
      /** The first commit that comes and is not verified; asked for only where the rule requires signatures. */
      unverified: string | undefined
    }

export type Violation =
  | { kind: 'delete' | 'force' | 'push' }
  | { kind: 'unverified'; sha: string }
  | { kind: 'path'; path: string }

/**
 * The one rule of what may be done to a protected branch, for pushes, for the API and for merges. Nobody stands above it, neither
 * owners nor administrators: who may change the rule can do so openly.
 */
export function judgeBranchMove(rule: BranchRule, mover: Mover, move: BranchMove): Violation | undefined {
  if (move.kind === 'delete') return { kind: 'delete' }
  if (move.isForced && !mayForce(rule, mover)) return { kind: 'force' }
  if (!(move.isForced || mayPush(rule, mover)) && !areUnprotected(rule, move.paths)) return { kind: 'push' }
  const isProtected = filePatterns(rule.protectedFilePatterns)
  const path = move.paths.find(isProtected)
  if (path !== undefined) return { kind: 'path', path }
  if (rule.requireSignedCommits && move.unverified !== undefined) return { kind: 'unverified', sha: move.unverified }
  return undefined
}

/** Whether the paths that a move changes decide anything. */
export const asksForPaths = (rule: BranchRule, mover: Mover): boolean =>
  rule.protectedFilePatterns !== '' || (!mayPush(rule, mover) && rule.unprotectedFilePatterns !== '')

/** Whether what a push brings decides anything: else it need not be looked at. */
export const asksForContent = (rule: BranchRule, mover: Mover): boolean =>
  rule.requireSignedCommits || asksForPaths(rule, mover) || !mayForce(rule, mover) || !mayPush(rule, mover)

/** Whether no content could make the move one that may be. */
export const isShut = (rule: BranchRule, mover: Mover): boolean =>
  !mayPush(rule, mover) && !mayForce(rule, mover) && rule.unprotectedFilePatterns === ''

export function mayPush(rule: BranchRule, mover: Mover): boolean {
  if (!rule.enablePush) return false
  if (!rule.enablePushWhitelist) return true
  return isOn(rule.lists.push, mover, rule.pushWhitelistDeployKeys)
}

function mayForce(rule: BranchRule, mover: Mover): boolean {
  if (!rule.enableForcePush) return false
  if (!rule.enableForcePushAllowlist) return mayPush(rule, mover)
  return isOn(rule.lists.force_push, mover, rule.forcePushAllowlistDeployKeys)
}

/** Whether somebody with write may merge into the branch. */
export const mayMerge = (rule: BranchRule, mover: Mover): boolean =>
  !rule.enableMergeWhitelist || isOn(rule.lists.merge, mover, false)

/** Files that every writer may change, whoever may push. A push without any is none of them. */
function areUnprotected({ unprotectedFilePatterns }: BranchRule, paths: readonly string[]): boolean {
  const isUnprotected = filePatterns(unprotectedFilePatterns)
  return paths.length > 0 && paths.every(isUnprotected)
}

const isOn = ({ people, teams }: Listed, mover: Mover, hasDeployKeys: boolean): boolean =>
  mover.kind === 'person' ? people.includes(mover.id) || teams.some((team) => mover.teams.has(team)) : hasDeployKeys

/** Whether a tag may be made, moved or deleted: where rules hold for it, one of them has to list who asks. */
export function mayChangeTag(rules: readonly TagRule[], mover: Mover, tag: string): boolean {
  const holding = findTagRules(rules, tag)
  return holding.length === 0 || holding.some(({ listed }) => isOn(listed, mover, false))
}

/** The violation in one line, as whoever pushes reads it. */
export function describeViolation(violation: Violation, branch: string): string {
  switch (violation.kind) {
    case 'delete':
      return `branch ${branch} is protected from deletion`
    case 'force':
      return `branch ${branch} is protected from force push`
    case 'push':
      return `not allowed to push to protected branch ${branch}`
    case 'unverified':
      return `branch ${branch} is protected from unverified commit ${violation.sha}`
    case 'path':
      return `branch ${branch} is protected from changing file ${violation.path}`
  }
}
