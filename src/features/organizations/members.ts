import { violatedConstraint } from '../../../db/violations.ts'
import { maySeeOwner } from '../../access/decide.ts'
import { findAccount } from '../../access/load-account.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import type { OrganizationAccess } from '../../http/organization-gate.ts'
import { forbidden, invalid, notFound } from '../../kernel/errors.ts'
import { findMember, lockOrganization, type Membership, publishMembership, removeFromTeams } from './store.ts'

/** @throws Refusal 404 for a person who does not belong to it */
export async function getMember({ db }: Context, org: OrganizationAccess, name: string): Promise<Membership> {
  const member = await findMember(db, org.row.id, name)
  if (!member) throw notFound()
  return member
}

/** Everyone decides for themselves whether the membership is public; owners only for themselves, too. */
export async function setMembershipPublic(
  context: Context,
  { actor, org, name, isPublic }: { actor: Actor; org: OrganizationAccess; name: string; isPublic: boolean },
): Promise<void> {
  const { user } = await getMember(context, org, name)
  if (user.id !== actor.user.id && !(org.isOwner && !isPublic))
    throw forbidden(isPublic ? 'Cannot publicize another member' : 'Cannot conceal another member')
  await context.db.transaction(async (tx) => {
    if (!(await publishMembership(tx, { organizationId: org.row.id, userId: user.id, isPublic }))) return
    await recordAudit(tx, actor, {
      action: isPublic ? 'organization.publicize_member' : 'organization.conceal_member',
      subject: { kind: 'organization', id: org.row.id, name: org.row.name },
      after: { member: user.name },
    })
  })
}

/** Wire: taking out somebody who does not belong to it is no error. @throws Refusal 404 for an unknown person, 422 for the last owner */
export async function removeMember(
  { db, config }: Context,
  { actor, org, name }: { actor: Actor; org: OrganizationAccess; name: string },
): Promise<void> {
  const member = await findMember(db, org.row.id, name)
  if (!member) {
    const account = await findAccount(db, name, actor.user.id)
    if (account && maySeeOwner(config, actor, account.row, account.isRelated)) return
    throw notFound(`user redirect does not exist [name: ${name}]`, undefined)
  }
  try {
    await db.transaction(async (tx) => {
      await lockOrganization(tx, org.row.id)
      if (!(await removeFromTeams(tx, org.row.id, member.user.id))) return
      const subject = { kind: 'organization', id: org.row.id, name: org.row.name }
      await recordAudit(tx, actor, {
        action: 'organization.remove_member',
        subject,
        before: { member: member.user.name },
      })
    })
  } catch (error) {
    throw lastOwnerRefusal(error)
  }
}

/** The database keeps the last owner; the client gets a refusal. */
export const lastOwnerRefusal = (error: unknown): unknown =>
  violatedConstraint(error) === 'organization_keeps_an_owner'
    ? invalid('the last owner of an organization cannot leave it')
    : error
