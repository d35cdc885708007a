import type { UserRow } from '../../../db/schema/users.ts'
import { isBlockedInside } from '../../access/blocks.ts'
import { maySeeOwner } from '../../access/decide.ts'
import { findAccount } from '../../access/load-account.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { namedAccount } from '../../http/account-gate.ts'
import type { TeamAccess } from '../../http/team-gate.ts'
import { forbidden, invalid, notFound } from '../../kernel/errors.ts'
import { lastOwnerRefusal } from '../organizations/members.ts'
import { lockOrganization } from '../organizations/store.ts'
import { lockAccount } from '../users/lock.ts'
import { findTeamMember, insertTeamMember, removeTeamMember } from './store.ts'

interface Joining {
  actor: Actor
  team: TeamAccess
  name: string
  request: Request
}

/** @throws Refusal 404 for somebody who is not in the team */
export async function getTeamMember({ db }: Context, team: TeamAccess, name: string): Promise<UserRow> {
  const user = await findTeamMember(db, team.row.id, name)
  if (!user) throw notFound()
  return user
}

/** @throws Refusal 403 for somebody whom the organization has blocked, 404 for an unknown person, 422 for an organization */
export async function addTeamMember(context: Context, { actor, team, name, request }: Joining): Promise<void> {
  const { db } = context
  const user = await namedAccount(context, actor, name, request)
  if (user.kind !== 'user') throw invalid('only people can join a team')
  const { row, organization } = team
  await db.transaction(async (tx) => {
    if (await isBlockedInside(tx, { blockerId: organization.id, blockedId: user.id }))
      throw forbidden('the organization has blocked this user')
    // The person before the team, as whoever deletes a person with what they own locks them.
    if (!(await lockAccount(tx, user.id))) throw notFound()
    const isNew = await insertTeamMember(tx, { teamId: row.id, organizationId: organization.id, userId: user.id })
    if (!isNew) return
    const subject = { kind: 'team', id: row.id, name: `${organization.name}/${row.name}` }
    await recordAudit(tx, actor, { action: 'team.add_member', subject, after: { member: user.name } })
  })
}

/** Wire: taking out somebody who is not in the team is no error. @throws Refusal 404 for an unknown person, 422 for the last owner */
export async function removeFromTeam(context: Context, { actor, team, name }: Omit<Joining, 'request'>): Promise<void> {
  const { row, organization } = team
  const account = await findAccount(context.db, name, actor.user.id)
  const user = account?.row
  const unknown = () => notFound(`user redirect does not exist [name: ${name}]`, undefined)
  if (!user) throw unknown()
  try {
    await context.db.transaction(async (tx) => {
      await lockOrganization(tx, organization.id)
      if (!(await removeTeamMember(tx, row.id, user.id))) {
        if (!maySeeOwner(context.config, actor, user, account.isRelated)) throw unknown()
        return
      }
      const subject = { kind: 'team', id: row.id, name: `${organization.name}/${row.name}` }
      await recordAudit(tx, actor, { action: 'team.remove_member', subject, before: { member: user.name } })
    })
  } catch (error) {
    throw lastOwnerRefusal(error)
  }
}
