import type { RefRow } from '../../../db/schema/refs.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import { Level } from '../../access/units.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { verifySignatures } from '../../signatures/verify.ts'
import { type Branch, presentBranch, type ShownProtection } from '../../wire/branch.ts'
import { mayMerge, mayPush } from '../protections/decide.ts'
import { loadBranchRules, loadMover } from '../protections/load.ts'
import { findBranchRule } from '../protections/rules.ts'
import { findNamesByEmail } from '../refs/people.ts'

interface Page {
  actor: Actor | undefined
  repo: RepositoryAccess
  rows: readonly RefRow[]
}

interface Loaded {
  /** Of all that the branches show. */
  versions: (string | number | boolean)[]
  branches: Branch[]
}

/** What the branches of one page show to a reader. A fixed number of statements. */
export async function load(context: Context, { actor, repo, rows }: Page): Promise<Loaded> {
  const addresses = rows.flatMap(({ commit }) => (commit ? [commit.authorEmail, commit.committerEmail] : []))
  const [names, verdicts, protectionOf] = await Promise.all([
    findNamesByEmail(context.db, addresses),
    verifySignatures(
      context,
      actor,
      rows.map(({ commit }) => ({ ...commit, email: commit?.committerEmail ?? '' })),
    ),
    loadProtections(context, { actor, repo }),
  ])
  const mayWrite = repo.rights.level('repo.code') >= Level.write
  const shown = rows.flatMap(({ name, sha }, index) => [
    name,
    sha,
    JSON.stringify([verdicts[index], protectionOf(name)]),
  ])
  const { htmlUrl, version } = repo
  return {
    versions: [version, mayWrite, ...shown, ...[...names].flat()],
    branches: rows.map((row, index) => {
      const protection = protectionOf(row.name)
      return presentBranch(row, { htmlUrl, mayWrite, protection, names, verdict: verdicts[index] })
    }),
  }
}

export async function loadOne(context: Context, { row, ...page }: Omit<Page, 'rows'> & { row: RefRow }) {
  const { versions, branches } = await load(context, { ...page, rows: [row] })
  const [branch] = branches
  if (!branch) throw new Error('one row gives one branch')
  return { versions, branch }
}

/** What is shown of the rule of a branch. */
async function loadProtections(
  { db }: Context,
  { actor, repo }: Omit<Page, 'rows'>,
): Promise<(branch: string) => ShownProtection | undefined> {
  const rules = await loadBranchRules(db, repo.repository.id)
  if (rules.length === 0) return () => undefined
  const mover = await loadMover(db, repo.repository, actor?.user)
  const isAdmin = repo.rights.overall >= Level.admin
  return (branch) => {
    const rule = findBranchRule(rules, branch)
    if (!rule) return undefined
    const { requiredApprovals, enableStatusCheck, statusCheckContexts } = rule
    return {
      name: isAdmin ? rule.ruleName : '',
      ...{ requiredApprovals, enableStatusCheck, statusCheckContexts },
      mayPush: mayPush(rule, mover),
      mayMerge: mayMerge(rule, mover),
    }
  }
}
