import { eq } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { teams } from '../../../db/schema/organizations.ts'
import { repositoryTransfers } from '../../../db/schema/repository-transfers.ts'
import { users } from '../../../db/schema/users.ts'
import type { ShownTransfer } from '../../wire/repository.ts'
import { loadTeams } from '../teams/service.ts'

const doers = alias(users, 'doer')
const recipients = alias(users, 'recipient')

/** The offers of these repositories to other owners, by repository. */
export async function loadTransfers(db: Db, repositoryIds: readonly number[]): Promise<Map<number, ShownTransfer>> {
  if (repositoryIds.length === 0) return new Map()
  const rows = await db
    .select({ transfer: repositoryTransfers, doer: doers, recipient: recipients })
    .from(repositoryTransfers)
    .innerJoin(doers, eq(doers.id, repositoryTransfers.doerId))
    .innerJoin(recipients, eq(recipients.id, repositoryTransfers.recipientId))
    .where(anyOf(repositoryTransfers.repositoryId, repositoryIds))
  const teamIds = rows.flatMap(({ transfer }) => transfer.teamIds)
  const found = teamIds.length > 0 ? await db.select().from(teams).where(anyOf(teams.id, teamIds)) : []
  const shown = await loadTeams(
    db,
    found.map((team) => ({ team })),
  )
  return new Map(
    rows.map(({ transfer, doer, recipient }) => {
      const wanted = new Set(transfer.teamIds)
      return [transfer.repositoryId, { doer, recipient, teams: shown.filter(({ team }) => wanted.has(team.id)) }]
    }),
  )
}
