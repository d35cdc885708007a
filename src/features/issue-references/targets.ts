import { and, eq, or, type SQL, sql } from 'drizzle-orm'
import { anyOf, anyPairOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { issues } from '../../../db/schema/issues.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import { blocks, users } from '../../../db/schema/users.ts'
import { unitSwitch } from '../../access/unit-switch.ts'
import { readableBy, readers, writableBy } from '../../access/visible.ts'
import type { NamedIssue, ReferenceAction } from '../../render/named-issues.ts'

/** An issue that a text names. */
export interface Target {
  issueId: number
  number: number
  isPull: boolean
  repositoryId: number
  ownerId: number
  action: ReferenceAction
  /** Whether issues wait for others there. */
  hasDependencies: boolean
  /** Whether the author may read it, and so refer to it. Archived repositories take no references. */
  mayRefer: boolean
  /** Whether the author may close and open it. */
  mayChange: boolean
}

interface Author {
  actorId: number
  /** Of the text: where `#12` is. */
  repositoryId: number
}

/** Those of the named issues that there are, judged for who names them, in one statement. */
export async function findTargets(
  db: Db,
  { actorId, repositoryId }: Author,
  named: readonly NamedIssue[],
): Promise<Target[]> {
  if (named.length === 0) return []
  const isBlocked = sql`exists (select 1 from ${blocks} where ${blocks.blockerId} = ${repositories.ownerId}
    and ${blocks.blockedId} = ${readers.id})`
  const isOpen = sql`not ${repositories.isArchived} and ${readers.isActive} and not ${readers.prohibitLogin}`
  const reads = sql`case when ${issues.isPull} then ${unitSwitch['repo.pulls']} and ${readableBy('repo.pulls')}
    else ${unitSwitch['repo.issues']} and ${readableBy('repo.issues')} end`
  const writes = sql`(${issues.posterId} = ${readers.id} or ${writableBy('repo.issues')})`
  const rows = await db
    .select({
      issueId: issues.id,
      number: issues.number,
      isPull: issues.isPull,
      repositoryId: repositories.id,
      ownerId: repositories.ownerId,
      hasDependencies: repositories.enableIssueDependencies,
      owner: users.lowerName,
      name: repositories.lowerName,
      mayRefer: sql<boolean>`coalesce(${isOpen} and not ${isBlocked} and ${reads}, false)`,
      mayChange: sql<boolean>`coalesce(${isOpen} and not ${isBlocked} and not ${issues.isPull} and ${reads} and ${writes}, false)`,
    })
    .from(issues)
    .innerJoin(repositories, eq(repositories.id, issues.repositoryId))
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .innerJoin(readers, eq(readers.id, actorId))
    .where(and(isNamed(db, repositoryId, named), anyOf(issues.number, new Set(named.map(({ number }) => number)))))
  return rows.flatMap(({ owner, name, ...row }) => {
    const found = named.find(
      ({ repository, number }) =>
        number === row.number &&
        (repository ? repository.owner === owner && repository.name === name : row.repositoryId === repositoryId),
    )
    return found ? [{ ...row, action: found.action }] : []
  })
}

/** The repositories are found by their names first: beside `own` in one condition over two tables, no index would serve. */
function isNamed(db: Db, own: number, named: readonly NamedIssue[]): SQL | undefined {
  const elsewhere = named.flatMap(({ repository }) => repository ?? [])
  const pairs = elsewhere.map(({ owner, name }) => [owner, name] as const)
  const found = db
    .select({ id: repositories.id })
    .from(repositories)
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(anyPairOf([users.lowerName, repositories.lowerName], pairs))
  return or(eq(repositories.id, own), sql`${repositories.id} = any(array(${found}))`)
}
