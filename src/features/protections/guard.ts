import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import type { Look } from '../../git/model.ts'
import { forbidden } from '../../kernel/errors.ts'
import { verifySignatures } from '../../signatures/verify.ts'
import { BRANCHES, parseRef } from '../refs/names.ts'
import {
  asksForContent,
  asksForPaths,
  type BranchMove,
  describeViolation,
  isShut,
  judgeBranchMove,
  type Mover,
  mayChangeTag,
  type Violation,
} from './decide.ts'
import { loadBranchRules, loadMover, loadTagRules } from './load.ts'
import { type BranchRule, findBranchRule, type TagRule } from './rules.ts'

/** The rules of a repository, and who is to be judged by them. */
export interface Guard {
  repository: { id: number; defaultBranch: string }
  actor: Actor
  mover: Mover
  branchRules: readonly BranchRule[]
  tagRules: readonly TagRule[]
}

/** One ref, as a push or the API moves it. */
export interface Move {
  /** In full. */
  ref: string
  /** null: it is made. */
  old: string | null
  /** null: it is deleted. */
  new: string | null
}

/** Two or three statements, whatever the number of rules. */
export async function loadGuard(
  { db }: Context,
  { actor, repository }: { actor: Actor; repository: { id: number; ownerId: number; defaultBranch: string } },
): Promise<Guard> {
  const [branchRules, tagRules] = await Promise.all([
    loadBranchRules(db, repository.id),
    loadTagRules(db, repository.id),
  ])
  const hasRules = branchRules.length + tagRules.length > 0
  const mover: Mover = actor.isDeployKey
    ? { kind: 'deploy key' }
    : await loadMover(db, repository, hasRules ? actor.user : undefined)
  return { repository, actor, mover, branchRules, tagRules }
}

/** The rule that holds for a ref; undefined for what is no branch, and for a branch that none protects. */
function ruleFor({ branchRules }: Guard, ref: string): { rule: BranchRule; branch: string } | undefined {
  const name = parseRef(ref)
  const rule = name?.kind === 'branch' ? findBranchRule(branchRules, name.name) : undefined
  return rule && name && { rule, branch: name.name }
}

/** Why a move may not be, whatever it brings; undefined where its content decides. In one line. */
export function findPlainViolation(guard: Guard, move: Move): string | undefined {
  const name = parseRef(move.ref)
  if (name?.kind === 'tag' && !mayChangeTag(guard.tagRules, guard.mover, name.name))
    return `tag ${name.name} is protected`
  const found = ruleFor(guard, move.ref)
  if (!found) return undefined
  if (move.new === null) return describeViolation({ kind: 'delete' }, found.branch)
  return isShut(found.rule, guard.mover) ? describeViolation({ kind: 'push' }, found.branch) : undefined
}

/** Whether what a move brings must be looked at before it is known to be allowed. */
export function needsLook(guard: Guard, move: Move): boolean {
  const found = ruleFor(guard, move.ref)
  return found !== undefined && asksForContent(found.rule, guard.mover)
}

/** Why the first of the moves that may not be is refused, in one line; undefined when all may be. Throws GitError as `Look`. */
export async function findViolation(
  context: Context,
  guard: Guard,
  { moves, look }: { moves: readonly Move[]; look: Look },
): Promise<string | undefined> {
  for (const move of moves) {
    const plain = findPlainViolation(guard, move)
    if (plain !== undefined) return plain
    const found = ruleFor(guard, move.ref)
    if (!found) continue
    const facts = await readMove(context, guard, { move, rule: found.rule, look })
    const violation = judgeBranchMove(found.rule, guard.mover, facts)
    if (violation) return describeViolation(violation, found.branch)
  }
  return undefined
}

/** @throws Refusal 403 for moves by the API that a rule forbids */
export async function requireAllowed(context: Context, guard: Guard, moves: readonly Move[]): Promise<void> {
  const violation = await findViolation(context, guard, { moves, look: context.git.look(guard.repository.id) })
  if (violation !== undefined) throw forbidden(violation)
}

/** Why files of a branch may not be changed by the API. */
export async function findFilesViolation(
  context: Context,
  guard: Guard,
  change: {
    /** That the commit moves or makes. */
    branch: string
    /** What the commit is made upon, where it makes another branch than that. */
    from: string | undefined
    paths: readonly string[]
    isForced: boolean
    isSigned: boolean
  },
): Promise<Violation | undefined> {
  const rule = findBranchRule(guard.branchRules, change.branch)
  if (!rule) return undefined
  const { from, isForced } = change
  const brought =
    from === undefined
      ? []
      : await changedPaths(context, guard, { rule, old: null, next: from, look: context.git.look(guard.repository.id) })
  return judgeBranchMove(rule, guard.mover, {
    kind: from === undefined ? 'update' : 'create',
    isForced,
    paths: [...brought, ...change.paths],
    unverified: change.isSigned ? undefined : 'of the request',
  })
}

interface Case {
  move: Move
  rule: BranchRule
  look: Look
}

async function readMove(context: Context, guard: Guard, { move, rule, look }: Case): Promise<BranchMove> {
  const { old, new: next } = move
  if (next === null) return { kind: 'delete' }
  return {
    kind: old === null ? 'create' : 'update',
    isForced: old !== null && !(await look.isAncestor(old, next)),
    paths: await changedPaths(context, guard, { rule, old, next, look }),
    unverified: rule.requireSignedCommits ? await findUnverified(context, guard, { old, next, look }) : undefined,
  }
}

/** A new branch changes what it has not in common with the default branch. */
async function changedPaths(
  { git }: Context,
  { repository, mover }: Guard,
  { rule, old, next, look }: { rule: BranchRule; old: string | null; next: string; look: Look },
): Promise<string[]> {
  if (!asksForPaths(rule, mover)) return []
  if (old !== null) return look.changedPaths(old, next)
  const main = await git.find(repository.id, BRANCHES + repository.defaultBranch)
  return look.changedPaths(main && (await look.mergeBase(main.sha, next)), next)
}

/** Signatures that are verified together. */
const PORTION = 100

async function findUnverified(
  context: Context,
  { actor }: Guard,
  { old, next, look }: { old: string | null; next: string; look: Look },
): Promise<string | undefined> {
  const commits = await look.newCommits(next, old ?? undefined)
  for (let at = 0; at < commits.length; at += PORTION) {
    const portion = commits.slice(at, at + PORTION)
    const signed = portion.map(({ signature, committer }) => ({ signature, email: committer.email }))
    const verdicts = await verifySignatures(context, actor, signed)
    const unverified = portion.find((_, index) => !verdicts[index]?.isVerified)
    if (unverified) return unverified.sha
  }
  return undefined
}
