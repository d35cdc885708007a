import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import {
  type TagProtectionRow,
  tagProtectionPeople,
  tagProtections,
  tagProtectionTeams,
} from '../../../db/schema/protections.ts'

export const countTagRules = (db: Db, repositoryId: number): Promise<number> =>
  db.$count(tagProtections, eq(tagProtections.repositoryId, repositoryId))

export async function insertTagRule(
  tx: Db,
  rule: { repositoryId: number; namePattern: string },
): Promise<TagProtectionRow> {
  const [row] = await tx.insert(tagProtections).values(rule).returning()
  if (!row) throw new Error('insert returned no row')
  return row
}

interface Place {
  repositoryId: number
  id: number
}

const at = ({ repositoryId, id }: Place) =>
  and(eq(tagProtections.repositoryId, repositoryId), eq(tagProtections.id, id))

/** Without a pattern the old one stays. Undefined when there is no such rule. */
export async function updateTagRule(
  tx: Db,
  place: Place,
  namePattern: string | undefined,
): Promise<TagProtectionRow | undefined> {
  const [row] = await tx.update(tagProtections).set({ namePattern, updatedAt: sql`now()` }).where(at(place)).returning()
  return row
}

export async function removeTagRule(tx: Db, place: Place): Promise<TagProtectionRow | undefined> {
  const [row] = await tx.delete(tagProtections).where(at(place)).returning()
  return row
}

/** Puts just these on the lists of a rule; a list that is undefined stays as it is. */
export async function replaceTagListed(
  tx: Db,
  protectionId: number,
  { people, teams }: { people: readonly number[] | undefined; teams: readonly number[] | undefined },
): Promise<void> {
  if (people) {
    await tx.delete(tagProtectionPeople).where(eq(tagProtectionPeople.protectionId, protectionId))
    if (people.length > 0)
      await tx.insert(tagProtectionPeople).values(people.map((userId) => ({ protectionId, userId })))
  }
  if (teams) {
    await tx.delete(tagProtectionTeams).where(eq(tagProtectionTeams.protectionId, protectionId))
    if (teams.length > 0) await tx.insert(tagProtectionTeams).values(teams.map((teamId) => ({ protectionId, teamId })))
  }
}
