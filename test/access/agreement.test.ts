import { afterAll, beforeAll, expect, test } from 'bun:test'
import { asc, eq, sql } from 'drizzle-orm'
import { type Database, openDatabase } from '../../db/client.ts'
import { repositories } from '../../db/schema/repositories.ts'
import { users } from '../../db/schema/users.ts'
import { decideRights, maySeeOwner, type SiteRules } from '../../src/access/decide.ts'
import { Level } from '../../src/access/levels.ts'
import { findRepository } from '../../src/access/load.ts'
import { findAccount } from '../../src/access/load-account.ts'
import { readableBy, readers } from '../../src/access/readers.ts'
import { narrowByScopes } from '../../src/access/token-reach.ts'
import { hasUnit, type Unit, units } from '../../src/access/units.ts'
import { visibleTo } from '../../src/access/visible.ts'
import { visibleAccounts } from '../../src/access/visible-accounts.ts'
import type { Actor } from '../../src/auth/actor.ts'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'
import { buildWorld, createDice } from './worlds.ts'

let database: TestDatabase
let connection: Database
beforeAll(async () => {
  database = await createTestDatabase()
  connection = openDatabase(database.url, { poolSize: 4 })
})
afterAll(async () => {
  await connection.close()
  await database.drop()
})

const QUESTIONS = 10_000
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000)

const describe = (actor: Actor | undefined) =>
  actor === undefined
    ? 'a visitor'
    : `${actor.user.name}${actor.publicOnly ? ' (public only)' : ''}${actor.repositoryIds ? ' (limited)' : ''}`

async function listVisible(site: SiteRules, actor: Actor | undefined, unit?: Unit): Promise<string[]> {
  const rows = await connection.db
    .select({ path: sql<string>`${users.name} || '/' || ${repositories.name}` })
    .from(repositories)
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(visibleTo(site, actor, unit))
    .orderBy(asc(repositories.id))
  return rows.map(({ path }) => path)
}

async function decideEach(site: SiteRules, actor: Actor | undefined, names: string[][]): Promise<string[]> {
  const visible: string[] = []
  for (const [owner = '', name = ''] of names) {
    const loaded = await findRepository(connection.db, { owner, name }, actor?.user)
    if (loaded && decideRights(site, actor, loaded).highest >= Level.read) visible.push(`${owner}/${name}`)
  }
  return visible
}

/** What feeds ask: the same for one unit of those that have it switched on. */
async function compareUnit(
  site: SiteRules,
  actor: Actor | undefined,
  unit: Unit,
): Promise<{ listed: string[]; decided: string[] }> {
  const rows = await connection.db
    .select({ repository: repositories, owner: users.name })
    .from(repositories)
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(visibleTo(site, actor, unit))
    .orderBy(asc(repositories.id))
  const on = rows.filter(({ repository }) => hasUnit(repository, unit))
  const all = await connection.db
    .select({ name: repositories.name, owner: users.name })
    .from(repositories)
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .orderBy(asc(repositories.id))
  const decided: string[] = []
  for (const path of all) {
    const loaded = await findRepository(connection.db, path, actor?.user)
    if (loaded && decideRights(site, actor, loaded).level(unit) >= Level.read)
      decided.push(`${path.owner}/${path.name}`)
  }
  return { listed: on.map(({ owner, repository }) => `${owner}/${repository.name}`), decided }
}

/** Who is told of news: the same question, asked of all people at once. */
async function expectSameReaders(unit: Unit, actors: readonly (Actor | undefined)[], where: string): Promise<void> {
  const rows = await connection.db
    .select({ reader: readers.id, path: sql<string>`${users.name} || '/' || ${repositories.name}` })
    .from(repositories)
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .innerJoin(readers, eq(readers.kind, 'user'))
    .where(readableBy(unit))
    .orderBy(asc(repositories.id))
  for (const actor of actors) {
    if (actor?.method !== 'password') continue
    const told = rows.filter(({ reader }) => reader === actor.user.id).map(({ path }) => path)
    const listed = await listVisible({ requireSigninView: false }, actor, unit)
    expect({ where: `${where}, ${describe(actor)}`, unit, told }).toEqual({
      where: `${where}, ${describe(actor)}`,
      unit,
      told: listed,
    })
  }
}

async function expectSameAccounts(site: SiteRules, actor: Actor | undefined, where: string): Promise<number> {
  const all = await connection.db.select({ name: users.name }).from(users).orderBy(asc(users.id))
  const listed = await connection.db
    .select({ name: users.name })
    .from(users)
    .where(visibleAccounts(site, actor))
    .orderBy(asc(users.id))
  const decided: { name: string }[] = []
  for (const { name } of all) {
    const account = await findAccount(connection.db, name, actor?.user.id)
    if (account && maySeeOwner(site, actor, account.row, account.isMember)) decided.push({ name })
  }
  expect({ where, accounts: listed }).toEqual({ where, accounts: decided })
  return all.length
}

test(`the rule and its SQL agree on ${QUESTIONS} random questions`, async () => {
  let asked = 0
  let seen = 0
  for (let seed = SEED; asked < QUESTIONS; seed += 1) {
    await connection.sql`truncate users, repositories restart identity cascade`
    const dice = createDice(seed)
    const site = { requireSigninView: dice.chance(0.2) }
    const { actors, names } = await buildWorld(connection.db, dice)
    await expectSameReaders(dice.pick(units), actors, `SEED=${seed}`)
    for (const given of actors) {
      const actor = given && narrowByScopes(given, 'repository', false).actor
      // A token whose scopes do not reach repositories is turned away before anything is looked up.
      if (given && !actor) continue
      const where = `SEED=${seed}, ${describe(actor)}`
      const listed = await listVisible(site, actor)
      expect({ where, repositories: listed }).toEqual({ where, repositories: await decideEach(site, actor, names) })
      const unit = dice.pick(units)
      const ofUnit = await compareUnit(site, actor, unit)
      expect({ where, unit, repositories: ofUnit.listed }).toEqual({ where, unit, repositories: ofUnit.decided })
      asked += names.length + (await expectSameAccounts(site, actor, where))
      seen += listed.length
    }
  }
  // A world where nobody sees anything would agree as well.
  expect(seen).toBeGreaterThan(QUESTIONS / 10)
}, 180_000)
