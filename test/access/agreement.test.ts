import { afterAll, beforeAll, expect, test } from 'bun:test'
import { asc, eq, type SQL, sql } from 'drizzle-orm'
import { type Database, openDatabase } from '../../db/client.ts'
import { repositories } from '../../db/schema/repositories.ts'
import { type UserRow, users } from '../../db/schema/users.ts'
import { findAssignable, listAssignable } from '../../src/access/assignable.ts'
import { decideRights, maySeeOwner, noRelation, type SiteRules } from '../../src/access/decide.ts'
import { findRepository, type LoadedRepository } from '../../src/access/load.ts'
import { findAccount } from '../../src/access/load-account.ts'
import { hasUnit, Level, type Unit, units } from '../../src/access/units.ts'
import { readableBy, readers, visibleTo } from '../../src/access/visible.ts'
import { visibleAccounts } from '../../src/access/visible-accounts.ts'
import type { Actor } from '../../src/auth/actor.ts'
import { narrowByScopes } from '../../src/auth/scopes.ts'
import { countRepositories } from '../../src/features/repository-search/count.ts'
import { viewOf } from '../../src/features/repository-search/view.ts'
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

/** More by hand: `QUESTIONS=10000 bun test ...`. */
const QUESTIONS = Number(process.env.QUESTIONS ?? 3_000)
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000)

const describe = (actor: Actor | undefined) =>
  actor === undefined
    ? 'a visitor'
    : `${actor.user.name}${actor.publicOnly ? ' (public only)' : ''}${actor.repositoryIds ? ' (limited)' : ''}`

const listVisible = (site: SiteRules, actor: Actor | undefined, unit?: Unit): Promise<string[]> =>
  listWhere(visibleTo(site, actor, unit))

async function listWhere(condition: SQL | undefined): Promise<string[]> {
  const rows = await connection.db
    .select({ path: sql<string>`${users.name} || '/' || ${repositories.name}` })
    .from(repositories)
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(condition)
    .orderBy(asc(repositories.id))
  return rows.map(({ path }) => path)
}

async function decideEach(site: SiteRules, actor: Actor | undefined, names: string[][]): Promise<string[]> {
  const visible: string[] = []
  for (const [owner = '', name = ''] of names) {
    const loaded = await findRepository(connection.db, { owner, name }, actor?.user.id)
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
    const loaded = await findRepository(connection.db, path, actor?.user.id)
    if (loaded && decideRights(site, actor, loaded).level(unit) >= Level.read)
      decided.push(`${path.owner}/${path.name}`)
  }
  return { listed: on.map(({ owner, repository }) => `${owner}/${repository.name}`), decided }
}

/** Who is notified: the same question, asked of all people at once. */
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
    const notified = rows.filter(({ reader }) => reader === actor.user.id).map(({ path }) => path)
    const listed = await listVisible({ requireSigninView: false }, actor, unit)
    expect({ where: `${where}, ${describe(actor)}`, unit, notified }).toEqual({
      where: `${where}, ${describe(actor)}`,
      unit,
      notified: listed,
    })
  }
}

/** What is counted beforehand, and the two parts of a view: the same again. */
async function expectSameTotals(site: SiteRules, actor: Actor | undefined, listed: string[]): Promise<void> {
  const { db } = connection
  expect(await countRepositories({ db, config: site }, actor, {})).toBe(listed.length)
  const view = viewOf(site, actor)
  if (view)
    expect([...(await listWhere(view.open)), ...(await listWhere(view.beyond))].sort()).toEqual(listed.toSorted())
}

/** Who may be asked to work on a repository, and who is suggested. A unit that is switched off still counts for writers. */
async function expectSameAssignable(
  actors: readonly (Actor | undefined)[],
  path: string[],
  where: string,
): Promise<void> {
  const [owner = '', name = ''] = path
  const suggested: string[] = []
  const askable: string[] = []
  const people: string[] = []
  let found: LoadedRepository | undefined
  for (const actor of actors) {
    if (actor?.method !== 'password') continue
    found = await findRepository(connection.db, { owner, name }, actor.user.id)
    if (!found) throw new Error(`${owner}/${name} is gone`)
    people.push(actor.user.name)
    const rights = rightsWithin(actor, found)
    if (rights.isWriter || rights.readsPullsByTeam) suggested.push(actor.user.name)
    if (rights.isWriter || rights.readsPulls || actor.user.isAdmin) askable.push(actor.user.name)
  }
  if (!found) return
  const names = (rows: UserRow[]) => rows.map((user) => user.name).sort()
  expect({
    where,
    path,
    suggested: names(await listAssignable(connection.db, found.repository)),
    askable: names(await findAssignable(connection.db, found.repository, people)),
  }).toEqual({ where, path, suggested: suggested.sort(), askable: askable.sort() })
}

/** Without the power of a site administrator. */
function rightsWithin(actor: Actor, found: LoadedRepository) {
  const plain = { ...actor, user: { ...actor.user, isAdmin: false } }
  const decide = (loaded: LoadedRepository) => decideRights({ requireSigninView: false }, plain, loaded)
  const reads = (loaded: LoadedRepository) => decide(loaded).level('repo.pulls') >= Level.read
  const { repository, owner, relation } = found
  const closed = { ...owner, visibility: 'private' as const }
  const byTeam = { ...found, repository: { ...repository, isPrivate: true }, owner: closed }
  return {
    isWriter: decide({ ...found, repository: { ...repository, ...allUnits } }).highest >= Level.write,
    readsPullsByTeam: reads({ ...byTeam, relation: { ...noRelation, teams: relation.teams } }),
    readsPulls: actor.user.visibility === 'private' ? reads({ ...found, owner: closed }) : reads(found),
  }
}

const allUnits = { hasCode: true, hasIssues: true, hasWiki: true, hasPullRequests: true, hasActions: true }

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
    if (account && maySeeOwner(site, actor, account.row, account.isRelated)) decided.push({ name })
  }
  expect({ where, accounts: listed }).toEqual({ where, accounts: decided })
  return all.length
}

test(`the rule and its SQL agree on ${QUESTIONS} random questions`, async () => {
  let asked = 0
  let seen = 0
  for (let seed = SEED; asked < QUESTIONS; seed += 1) {
    await connection.sql`truncate users, repositories, repository_counters, repository_totals restart identity cascade`
    const dice = createDice(seed)
    const site = { requireSigninView: dice.chance(0.2) }
    const { actors, names } = await buildWorld(connection.db, dice)
    await expectSameReaders(dice.pick(units), actors, `SEED=${seed}`)
    await expectSameAssignable(actors, dice.pick(names), `SEED=${seed}`)
    for (const given of actors) {
      const actor = given && narrowByScopes(given, 'repository', false).actor
      // A token whose scopes do not reach repositories is turned away before anything is looked up.
      if (given && !actor) continue
      const where = `SEED=${seed}, ${describe(actor)}`
      const listed = await listVisible(site, actor)
      expect({ where, repositories: listed }).toEqual({ where, repositories: await decideEach(site, actor, names) })
      await expectSameTotals(site, actor, listed)
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
