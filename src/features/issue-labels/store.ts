import { and, asc, eq } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { issueLabels, type LabelRow, labels } from '../../../db/schema/issues.ts'
import { repositories } from '../../../db/schema/repositories.ts'

/** By name, then id. */
export const listIssueLabels = (db: Db, issueId: number): Promise<LabelRow[]> =>
  select(db, issueId).orderBy(asc(labels.name), asc(labels.id)).execute().then(labelsOf)

/** The same, held until the transaction ends: whoever changes or deletes one of these labels waits. */
export const lockIssueLabels = (tx: Db, issueId: number): Promise<LabelRow[]> =>
  select(tx, issueId).orderBy(asc(labels.id)).for('share', { of: labels }).execute().then(labelsOf)

const select = (db: Db, issueId: number) =>
  db
    .select({ label: labels })
    .from(issueLabels)
    .innerJoin(labels, eq(labels.id, issueLabels.labelId))
    .where(eq(issueLabels.issueId, issueId))
    .$dynamic()

const labelsOf = (rows: readonly { label: LabelRow }[]): LabelRow[] => rows.map(({ label }) => label)

/** Until the transaction ends the repository is not deleted, and stays with its owner, whose labels it can use. */
export async function holdRepository(
  tx: Db,
  { repositoryId, ownerId }: { repositoryId: number; ownerId: number },
): Promise<boolean> {
  const rows = await tx
    .select({ id: repositories.id })
    .from(repositories)
    .where(and(eq(repositories.id, repositoryId), eq(repositories.ownerId, ownerId)))
    .for('key share')
  return rows.length > 0
}
