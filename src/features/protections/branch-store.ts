import { and, eq, max, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import {
  type BranchProtectionRow,
  branchProtectionPeople,
  branchProtections,
  branchProtectionTeams,
  type ProtectionList,
} from '../../../db/schema/protections.ts'

export type NewRule = typeof branchProtections.$inferInsert

export const countRules = (db: Db, repositoryId: number): Promise<number> =>
  db.$count(branchProtections, eq(branchProtections.repositoryId, repositoryId))

/** One behind the last. */
export async function nextPriority(db: Db, repositoryId: number): Promise<number> {
  const [row] = await db
    .select({ last: max(branchProtections.priority) })
    .from(branchProtections)
    .where(eq(branchProtections.repositoryId, repositoryId))
  return (row?.last ?? 0) + 1
}

export async function insertRule(tx: Db, rule: NewRule): Promise<BranchProtectionRow> {
  const [row] = await tx.insert(branchProtections).values(rule).returning()
  if (!row) throw new Error('insert returned no row')
  return row
}

/** Undefined when there is no such rule. */
export async function updateRule(
  tx: Db,
  { repositoryId, ruleName }: { repositoryId: number; ruleName: string },
  change: Partial<NewRule>,
): Promise<BranchProtectionRow | undefined> {
  const [row] = await tx
    .update(branchProtections)
    .set({ ...change, updatedAt: sql`now()` })
    .where(and(eq(branchProtections.repositoryId, repositoryId), eq(branchProtections.ruleName, ruleName)))
    .returning()
  return row
}

export async function removeRule(
  tx: Db,
  { repositoryId, ruleName }: { repositoryId: number; ruleName: string },
): Promise<BranchProtectionRow | undefined> {
  const [row] = await tx
    .delete(branchProtections)
    .where(and(eq(branchProtections.repositoryId, repositoryId), eq(branchProtections.ruleName, ruleName)))
    .returning()
  return row
}

/** The rules get the priorities 1, 2, 3... in the order of the ids. False when one of them is not the repository's: then none changed. */
export async function updatePriorities(tx: Db, repositoryId: number, ids: readonly number[]): Promise<boolean> {
  const ordered = JSON.stringify(ids)
  const changed = await tx.execute(sql`
    update ${branchProtections} set priority = wanted.place, updated_at = now()
    from (select value::bigint as id, ordinality as place
          from jsonb_array_elements_text(${ordered}::text::jsonb) with ordinality) as wanted
    where ${branchProtections.id} = wanted.id and ${branchProtections.repositoryId} = ${repositoryId}
    returning ${branchProtections.id}`)
  return changed.length === ids.length
}

/** Puts just these on a list of a rule. */
export async function replaceListed(
  tx: Db,
  { protectionId, list }: { protectionId: number; list: ProtectionList },
  { people, teams }: { people?: readonly number[] | undefined; teams?: readonly number[] | undefined },
): Promise<void> {
  if (people) {
    const { protectionId: rule, list: name } = branchProtectionPeople
    await tx.delete(branchProtectionPeople).where(and(eq(rule, protectionId), eq(name, list)))
    if (people.length > 0)
      await tx.insert(branchProtectionPeople).values(people.map((userId) => ({ protectionId, list, userId })))
  }
  if (teams) {
    const { protectionId: rule, list: name } = branchProtectionTeams
    await tx.delete(branchProtectionTeams).where(and(eq(rule, protectionId), eq(name, list)))
    if (teams.length > 0)
      await tx.insert(branchProtectionTeams).values(teams.map((teamId) => ({ protectionId, list, teamId })))
  }
}

/** The same rule under another name, lists included; nothing where there is no such rule. */
export async function copyRule(
  tx: Db,
  { repositoryId, ruleName }: { repositoryId: number; ruleName: string },
  to: string,
): Promise<void> {
  const [row] = await tx
    .select()
    .from(branchProtections)
    .where(and(eq(branchProtections.repositoryId, repositoryId), eq(branchProtections.ruleName, ruleName)))
    .for('share')
  if (!row) return
  const { id, ...same } = row
  const copy = await insertRule(tx, { ...same, ruleName: to })
  await tx.execute(sql`
    insert into ${branchProtectionPeople} (protection_id, list, user_id)
    select ${copy.id}, list, user_id from ${branchProtectionPeople} where protection_id = ${id}`)
  await tx.execute(sql`
    insert into ${branchProtectionTeams} (protection_id, list, team_id)
    select ${copy.id}, list, team_id from ${branchProtectionTeams} where protection_id = ${id}`)
}
