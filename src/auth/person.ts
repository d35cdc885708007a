import { and, eq, sql } from 'drizzle-orm'
import { type Db, prepared } from '../../db/client.ts'
import { type UserRow, users } from '../../db/schema/users.ts'

const byName = prepared((db) =>
  db
    .select()
    .from(users)
    .where(and(eq(users.lowerName, sql.placeholder('name')), eq(users.kind, 'user')))
    .prepare('person_by_name'),
)

/** A person, never an organization, by the name in any letter case. */
export async function findPerson(db: Db, name: string): Promise<UserRow | undefined> {
  // PostgreSQL has no NUL in a text, so nobody has such a name.
  if (name.includes('\0')) return undefined
  const [user] = await byName(db).execute({ name: name.toLowerCase() })
  return user
}
