import { expect, test } from 'bun:test'
import { asc, eq } from 'drizzle-orm'
import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import { beyondNewest } from '../../db/beyond-newest.ts'
import { openDatabase } from '../../db/client.ts'
import { createTestDatabase } from '../harness/database.ts'

const visits = pgTable('visits', { id: integer().notNull(), person: text().notNull(), day: integer().notNull() })

test('what is deleted are the rows of one owner that are older than the newest', async () => {
  const home = await createTestDatabase()
  const { db, sql, close } = openDatabase(home.url, { poolSize: 1 })
  await sql`create table visits (id integer not null, person text not null, day integer not null)`
  await db
    .insert(visits)
    .values([
      ...[1, 2, 3, 4, 5].map((id) => ({ id, person: 'ann', day: Math.min(id, 4) })),
      { id: 6, person: 'bob', day: 1 },
    ])
  const remaining = async () =>
    (await db.select({ id: visits.id }).from(visits).orderBy(asc(visits.id))).map(({ id }) => id)
  const ofAnn = eq(visits.person, 'ann')

  await db.delete(visits).where(beyondNewest(db, visits.id, { of: ofAnn, keep: 5 }))
  expect(await remaining()).toEqual([1, 2, 3, 4, 5, 6])
  await db.delete(visits).where(beyondNewest(db, visits.id, { of: ofAnn, keep: 3 }))
  expect(await remaining()).toEqual([3, 4, 5, 6])
  // 4 and 5 are of one day: neither is older than the other.
  await db.delete(visits).where(beyondNewest(db, visits.day, { of: ofAnn, keep: 1 }))
  expect(await remaining()).toEqual([4, 5, 6])
  await close()
  await home.drop()
})
