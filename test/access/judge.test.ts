import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Database, openDatabase } from '../../db/client.ts'
import { decideRights, judge, type RepositoryQuestion, type Verdict } from '../../src/access/decide.ts'
import { findRepository, type LoadedRepository } from '../../src/access/load.ts'
import { units } from '../../src/access/units.ts'
import type { Actor } from '../../src/auth/actor.ts'
import { narrowByScopes, type ScopeArea } from '../../src/auth/scopes.ts'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'
import { buildWorld, createDice, type Dice } from './worlds.ts'

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
const site = { requireSigninView: false }
const levels = ['read', 'write', 'admin', 'owner'] as const

interface Drawn {
  question: RepositoryQuestion
  area: ScopeArea
}

const draw = (dice: Dice): Drawn => ({
  question: {
    unit: dice.chance(0.3) ? undefined : dice.chance(0.2) ? dice.some(units, 0.3) : dice.pick(units),
    level: dice.pick(levels),
    isChange: dice.chance(0.5),
    evenArchived: dice.chance(0.3),
  },
  area: dice.pick(['repository', 'issue'] as const),
})

type Answer = Verdict | 'scope'

function ask(actor: Actor | undefined, loaded: LoadedRepository, { question, area }: Drawn): Answer {
  const narrowed = actor && narrowByScopes(actor, area, question.isChange)
  if (narrowed?.missing) return 'scope'
  const rights = decideRights(site, narrowed?.actor, loaded)
  return judge(narrowed?.actor, { repository: loaded.repository, rights }, question)
}

/** What may never be granted, said once more and in other words than the rule's. */
function mustRefuse(actor: Actor | undefined, { repository, owner }: LoadedRepository, { question, area }: Drawn) {
  const { isChange, evenArchived, level } = question
  const isPublic = !repository.isPrivate && owner.visibility === 'public'
  const words = actor?.scopes
  const has = (word: string) => words === undefined || words.includes(word) || words.includes('all')
  const isWritten = has(`write:${area}`) || (has('public_repo') && isPublic)
  const isRead = isWritten || has(`read:${area}`) || (words?.length === 0 && isPublic)
  return [
    isChange && repository.isArchived && !evenArchived && 'archived',
    isChange && actor?.repositoryIds && !actor.repositoryIds.includes(repository.id) && 'not among the chosen',
    !isPublic && actor?.repositoryIds && !actor.repositoryIds.includes(repository.id) && 'hidden from the token',
    words?.includes('public-only') && !isPublic && 'not public',
    actor?.job && level !== 'read' && 'a job reads only',
    !actor && !isPublic && 'a visitor',
    !actor && level !== 'read' && 'a visitor does not write',
    isChange && !isWritten && 'a scope for reading',
    !isRead && 'no scope',
  ].filter((reason) => typeof reason === 'string')
}

/** The same person without the limits of a token. */
const personOf = ({ user }: Actor): Actor => ({ user, method: 'password', publicOnly: false })

test(`no token does more than its owner, on ${QUESTIONS} random questions`, async () => {
  const answers = new Map<Answer, number>()
  let asked = 0
  for (let seed = SEED; asked < QUESTIONS; seed += 1) {
    await connection.sql`truncate users, repositories, repository_counters, repository_totals restart identity cascade`
    const dice = createDice(seed)
    const { actors, names } = await buildWorld(connection.db, dice)
    for (const actor of actors)
      for (const [owner = '', name = ''] of names) {
        const loaded = await findRepository(connection.db, { owner, name }, actor?.user.id)
        if (!loaded) throw new Error(`${owner}/${name} is missing`)
        for (let turn = 0; turn < 3; turn += 1) {
          const drawn = draw(dice)
          const answer = ask(actor, loaded, drawn)
          const where = { seed, who: actor?.user.name, scopes: actor?.scopes, repository: `${owner}/${name}`, ...drawn }
          if (answer === 'granted') {
            expect({ ...where, refusedFor: mustRefuse(actor, loaded, drawn) }).toEqual({ ...where, refusedFor: [] })
            // Behind a job stands nobody: what it may have at most is said above.
            if (actor && !actor.job)
              expect({ ...where, owner: ask(personOf(actor), loaded, drawn) }).toEqual({ ...where, owner: answer })
          }
          answers.set(answer, (answers.get(answer) ?? 0) + 1)
          asked += 1
        }
      }
  }
  // Every answer was given: a rule that refused all would pass as well.
  const expected: Answer[] = ['granted', 'hidden', 'not-chosen', 'lacking', 'archived', 'scope']
  expect(expected.filter((answer) => !answers.has(answer))).toEqual([])
}, 120_000)
