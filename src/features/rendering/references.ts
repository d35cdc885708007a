import { and, eq, or, type SQL } from 'drizzle-orm'
import { anyOf, anyPairOf } from '../../../db/any-of.ts'
import { issues } from '../../../db/schema/issues.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import { visibleTo } from '../../access/visible.ts'
import { visibleAccounts } from '../../access/visible-accounts.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { commitKey, issueKey, type References, type WantedReferences } from '../../render/references.ts'

/** Looks up what a text names for one reader: a query for the people, one for the issues, one for repositories of commits. */
export function databaseReferences(context: Context, actor: Actor | undefined): References {
  return {
    async lookUp({ users, issues, commits }) {
      const [people, numbers, shas] = await Promise.all([
        users.length === 0 ? new Map() : findPeople(context, actor, users),
        issues.length === 0 ? new Map() : findIssues(context, actor, issues),
        commits.length === 0 ? new Map() : findCommits(context, actor, commits),
      ])
      return { users: people, issues: numbers, commits: shas }
    },
  }
}

async function findPeople(
  { db, config }: Context,
  actor: Actor | undefined,
  names: string[],
): Promise<Map<string, string>> {
  const rows = await db
    .select({ name: users.name, lowerName: users.lowerName })
    .from(users)
    .where(and(anyOf(users.lowerName, names), visibleAccounts(config, actor)))
  return new Map(rows.map(({ name, lowerName }) => [lowerName, name]))
}

interface Named {
  owner: string
  repo: string
}

/** The repositories by owner and name, in lower case, as a condition over `users` and `repositories`. */
const isNamed = (wanted: readonly Named[]): SQL =>
  anyPairOf(
    [users.lowerName, repositories.lowerName],
    wanted.map(({ owner, repo }) => [owner, repo]),
  )

async function findIssues({ db, config }: Context, actor: Actor | undefined, wanted: WantedReferences['issues']) {
  const numbers = [...new Set(wanted.map(({ index }) => index))].filter((index) => index <= 2_147_483_647)
  const isOn = or(
    and(eq(issues.isPull, false), repositories.hasIssues),
    and(eq(issues.isPull, true), repositories.hasPullRequests),
  )
  const rows = await db
    .select({
      owner: users.lowerName,
      repo: repositories.lowerName,
      number: issues.number,
      isPull: issues.isPull,
    })
    .from(issues)
    .innerJoin(repositories, eq(repositories.id, issues.repositoryId))
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(and(isNamed(wanted), anyOf(issues.number, numbers), isOn, visibleTo(config, actor)))
  return new Map(rows.map(({ owner, repo, number, isPull }) => [issueKey(owner, repo, number), { isPull }]))
}

async function findCommits(context: Context, actor: Actor | undefined, wanted: WantedReferences['commits']) {
  const rows = await context.db
    .select({ id: repositories.id, owner: users.lowerName, repo: repositories.lowerName })
    .from(repositories)
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(
      and(isNamed(wanted), repositories.hasCode, eq(repositories.isEmpty, false), visibleTo(context.config, actor)),
    )
  const found = new Map<string, string>()
  for (const { id, owner, repo } of rows) {
    const shas = wanted.filter((each) => each.owner === owner && each.repo === repo).map(({ sha }) => sha)
    const objects = await Promise.all(shas.map((sha) => context.git.find(id, sha)))
    for (const [index, object] of objects.entries())
      if (object?.type === 'commit') found.set(commitKey(owner, repo, shas[index] ?? ''), object.sha)
  }
  return found
}
