import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eq, like, sql } from 'drizzle-orm'
import { users } from '../../db/schema/users.ts'
import { startTestService, type TestService } from '../harness/service.ts'

let service: TestService

beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

test('statements are kept by the database, but those with a pattern are planned for it each time', async () => {
  const kept = await service.context.db.transaction(async (tx) => {
    for (let times = 0; times < 3; times++) {
      await tx.select({ id: users.id }).from(users).where(eq(users.fullName, 'x'))
      await tx.select({ id: users.id }).from(users).where(like(users.lowerName, '%x%'))
    }
    const rows = await tx.execute<{ statement: string }>(sql`select statement from pg_prepared_statements`)
    return rows.map(({ statement }) => statement)
  })
  expect(kept.filter((statement) => statement.includes('"full_name" = $1'))).toHaveLength(1)
  expect(kept.filter((statement) => statement.includes('like $'))).toEqual([])
})
