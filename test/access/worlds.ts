import type { Db } from '../../db/client.ts'
import { accessTokenRepositories, accessTokens } from '../../db/schema/credentials.ts'
import { teamMembers, teamRepositories, teams, teamUnits } from '../../db/schema/organizations.ts'
import { collaborations, repositories } from '../../db/schema/repositories.ts'
import { repositoryTransfers } from '../../db/schema/repository-transfers.ts'
import { type UserRow, users, visibilities } from '../../db/schema/users.ts'
import { units } from '../../src/access/units.ts'
import type { Actor } from '../../src/auth/actor.ts'
import { jobUser } from '../../src/auth/job-user.ts'
import { normaliseScopes } from '../../src/auth/scopes.ts'

/** A random number generator that can be started again from the seed that a failure names (mulberry32). */
export function createDice(seed: number) {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    chance: (probability: number) => next() < probability,
    pick<Item>(items: readonly Item[]): Item {
      const item = items[Math.floor(next() * items.length)]
      if (item === undefined) throw new Error('nothing to pick from')
      return item
    },
    some: <Item>(items: readonly Item[], probability: number): Item[] => items.filter(() => next() < probability),
  }
}
export type Dice = ReturnType<typeof createDice>

const teamLevels = ['none', 'read', 'write', 'admin', 'owner'] as const
const givenLevels = ['read', 'write', 'admin'] as const
const PEOPLE = 6
const ORGANIZATIONS = 3
const REPOSITORIES = 14

/** Fills an empty database with people, organizations, teams and repositories, and tells who may ask in it. */
export async function buildWorld(db: Db, dice: Dice): Promise<{ actors: (Actor | undefined)[]; names: string[][] }> {
  const people = await insertAccounts(db, dice, { kind: 'user', count: PEOPLE })
  const organizations = await insertAccounts(db, dice, { kind: 'organization', count: ORGANIZATIONS })
  const owners = [...people, ...organizations]
  const made = await insertRepositories(db, dice, owners)
  for (const organization of organizations) {
    const owned = made.filter((repository) => repository.ownerId === organization.id).map(({ id }) => id)
    await insertTeams(db, dice, { organization, people, owned })
  }
  const shared = dice.some(made, 0.4).map(({ id }) => ({
    repositoryId: id,
    userId: dice.pick(people).id,
    permission: dice.pick(givenLevels),
  }))
  if (shared.length > 0) await db.insert(collaborations).values(shared)
  const offered = dice
    .some(made, 0.2)
    .map(({ id, ownerId }) => ({ repositoryId: id, doerId: ownerId, recipientId: dice.pick(owners).id }))
  if (offered.length > 0) await db.insert(repositoryTransfers).values(offered)
  const limited = await Promise.all(people.map((user) => limitedActor(db, dice, { user, made })))
  const actors = people.flatMap((user): Actor[] => [
    { user, method: 'password', publicOnly: false },
    { user, method: 'token', scopes: drawScopes(dice), publicOnly: false },
  ])
  const names = made.map(({ ownerId, name }) => [owners.find(({ id }) => id === ownerId)?.name ?? '', name])
  const jobs = dice.some(made, 0.3).map(({ id }) => jobActor(dice, id))
  return { actors: [undefined, ...actors, ...limited, ...jobs], names }
}

/** Few words, so that much is refused; often one that reaches public things only. */
function drawScopes(dice: Dice): string[] {
  const words = dice.some(['read:repository', 'write:repository', 'read:issue', 'write:issue', 'public_repo'], 0.3)
  return normaliseScopes([...words, ...dice.some(['all', 'public-only', 'read:user'], 0.2)])
}

function insertAccounts(
  db: Db,
  dice: Dice,
  { kind, count }: { kind: 'user' | 'organization'; count: number },
): Promise<UserRow[]> {
  const rows = Array.from({ length: count }, (_, number) => ({
    kind,
    name: `${kind}${number}`,
    visibility: dice.pick(visibilities),
    isAdmin: kind === 'user' && dice.chance(0.1),
    isRestricted: kind === 'user' && dice.chance(0.3),
  }))
  return db.insert(users).values(rows).returning()
}

function insertRepositories(db: Db, dice: Dice, owners: readonly UserRow[]) {
  const rows = Array.from({ length: REPOSITORIES }, (_, number) => ({
    ownerId: dice.pick(owners).id,
    name: `repository${number}`,
    isPrivate: dice.chance(0.5),
    // Counted, not drawn: worlds without a repository that anybody could change would leave archived ones untried.
    isArchived: number % 3 === 0,
    hasCode: dice.chance(0.8),
    hasIssues: dice.chance(0.7),
    hasWiki: dice.chance(0.5),
    hasPullRequests: dice.chance(0.5),
    hasActions: dice.chance(0.3),
    externalWikiUrl: dice.chance(0.2) ? 'https://wiki.example.com' : null,
  }))
  return db.insert(repositories).values(rows).returning()
}

interface OrganizationParts {
  organization: UserRow
  people: readonly UserRow[]
  owned: readonly number[]
}

async function insertTeams(db: Db, dice: Dice, { organization, people, owned }: OrganizationParts): Promise<void> {
  const levels = dice.some(teamLevels, 0.6)
  for (const permission of levels) {
    const team = {
      organizationId: organization.id,
      name: permission,
      permission,
      includesAllRepositories: dice.chance(0.3),
      canCreateOrgRepo: dice.chance(0.3),
    }
    const [row] = await db.insert(teams).values(team).returning()
    if (row === undefined) throw new Error('insert returned no row')
    const members = dice
      .some(people, 0.3)
      .map(({ id }) => ({ teamId: row.id, userId: id, organizationId: organization.id }))
    if (members.length > 0) await db.insert(teamMembers).values(members)
    const reached = dice.some(owned, 0.5).map((repositoryId) => ({ teamId: row.id, repositoryId }))
    if (reached.length > 0) await db.insert(teamRepositories).values(reached)
    const given = dice.some(units, 0.2).map((unit) => ({ teamId: row.id, unit, permission: dice.pick(teamLevels) }))
    if (given.length > 0) await db.insert(teamUnits).values(given)
  }
}

/** A running job of the repository, whose workflow says something of its permissions or nothing. */
function jobActor(dice: Dice, repositoryId: number): Actor {
  const words = dice.some(['contents', 'code', 'releases', 'issues', 'pull-requests', 'wiki', 'actions'], 0.3)
  const drawn = Object.fromEntries(words.map((word) => [word, dice.pick(['none', 'read', 'write'] as const)]))
  const job = { taskId: 1, repositoryId, permissions: dice.chance(0.3) ? null : drawn }
  const publicOnly = dice.chance(0.2)
  return { user: jobUser, method: 'job', tokenId: 1, job, repositoryIds: [repositoryId], publicOnly }
}

/** Somebody with a token that reaches a few repositories only, their own or not. */
async function limitedActor(
  db: Db,
  dice: Dice,
  { user, made }: { user: UserRow; made: readonly { id: number }[] },
): Promise<Actor> {
  const repositoryIds = dice.some(made, 0.3).map(({ id }) => id)
  const token = {
    userId: user.id,
    name: 'limited',
    tokenHash: `hash of ${user.name}`,
    lastEight: '',
    isLimitedToRepositories: true,
  }
  const [row] = await db.insert(accessTokens).values(token).returning()
  if (row === undefined) throw new Error('insert returned no row')
  if (repositoryIds.length > 0)
    await db
      .insert(accessTokenRepositories)
      .values(repositoryIds.map((repositoryId) => ({ tokenId: row.id, repositoryId })))
  return { user, method: 'token', scopes: ['all'], tokenId: row.id, repositoryIds, publicOnly: dice.chance(0.2) }
}
