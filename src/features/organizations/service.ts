import { eq } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { teamMembers, teams } from '../../../db/schema/organizations.ts'
import { type UserRow, users } from '../../../db/schema/users.ts'
import { requireOwnedQuota } from '../../access/quota.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { appendEvent } from '../../events/append.ts'
import { isEmailAddress } from '../../kernel/email.ts'
import { forbidden, invalid, notFound } from '../../kernel/errors.ts'
import { claimName, holdNames } from '../users/claim-name.ts'
import { requireOwnerName, takenRefusal } from '../users/create.ts'
import { editUser, requireWebsite, type UserChange } from '../users/edit.ts'
import type { CreateOrgOption, EditOrgOption } from './schema.ts'
import { countOwned, countRepositories } from './store.ts'

/** The team that every organization has, and that never empties. */
const OWNERS = 'Owners'

interface NewOrganization {
  actor: Actor
  /** Who becomes the first owner. */
  owner: UserRow
  option: CreateOrgOption
}

/**
 * Makes an organization with its team of owners.
 * @throws Refusal 403 for a person who may not, 422 for a name that is taken or cannot be taken
 */
export async function createOrganization(
  context: Context,
  { actor, owner, option }: NewOrganization,
): Promise<UserRow> {
  if (!owner.allowCreateOrganization && !actor.user.isAdmin)
    throw forbidden('user is not allowed to create organizations')
  requireOwnerName(option.username, 'user_name')
  const change = detailsOf(option)
  try {
    return await context.db.transaction(async (tx) => {
      const organization = await insertOrganization(tx, option.username, change)
      await claimName(tx, context, organization)
      await insertOwners(tx, organization.id, owner.id)
      // Scripts that bring a company in make all of its organizations as an administrator.
      if (!actor.user.isAdmin)
        await requireOwnedQuota(tx, context.config, {
          items: 'organizations',
          of: `account ${owner.id}`,
          count: () => countOwned(tx, owner.id),
        })
      const subject = { kind: 'organization', id: organization.id, name: organization.name }
      await recordAudit(tx, actor, { action: 'organization.create', subject, after: change })
      await appendEvent(tx, {
        kind: 'organization.created',
        actorId: actor.user.id,
        ownerId: organization.id,
        payload: { userId: organization.id, name: organization.name },
      })
      return organization
    })
  } catch (error) {
    throw takenRefusal(error, { name: option.username, email: '' })
  }
}

async function insertOrganization(tx: Db, name: string, change: UserChange): Promise<UserRow> {
  const [row] = await tx
    .insert(users)
    .values({ ...change, kind: 'organization', name })
    .returning()
  if (row === undefined) throw new Error('insert returned no row')
  return row
}

async function insertOwners(tx: Db, organizationId: number, userId: number): Promise<void> {
  const [team] = await tx
    .insert(teams)
    .values({
      organizationId,
      name: OWNERS,
      permission: 'owner',
      includesAllRepositories: true,
      canCreateOrgRepo: true,
    })
    .returning({ id: teams.id })
  if (team === undefined) throw new Error('insert returned no row')
  await tx.insert(teamMembers).values({ teamId: team.id, organizationId, userId })
}

/** @throws Refusal 422 for a website or an address that is none */
export async function editOrganization(
  context: Context,
  { actor, organization, option }: { actor: Actor; organization: UserRow; option: EditOrgOption },
): Promise<UserRow> {
  const change = detailsOf(option)
  return context.db.transaction((tx) => editUser(tx, organization, change, actor))
}

function detailsOf(option: EditOrgOption): UserChange {
  requireWebsite(option.website)
  if (option.email && !isEmailAddress(option.email)) throw invalid('Email', 'email')
  return {
    fullName: option.full_name,
    description: option.description,
    email: option.email,
    location: option.location,
    website: option.website,
    repoAdminChangeTeamAccess: option.repo_admin_change_team_access,
    // Wire: an empty visibility counts as absent.
    visibility: option.visibility || undefined,
  }
}

/** @throws Refusal 404 when somebody else was quicker, 422 while it owns repositories, for nothing of them may be lost by a slip */
export async function deleteOrganization(
  context: Context,
  { actor, organization }: { actor: Actor; organization: UserRow },
): Promise<void> {
  await context.db.transaction(async (tx) => {
    const here = await tx.select({ id: users.id }).from(users).where(eq(users.id, organization.id)).for('update')
    if (here.length === 0) throw notFound()
    if ((await countRepositories(tx, organization.id)) > 0)
      throw invalid('the organization still owns repositories: delete or transfer them first')
    const subject = { kind: 'organization', id: organization.id, name: organization.name }
    await recordAudit(tx, actor, { action: 'organization.delete', subject, before: { name: organization.name } })
    await appendEvent(tx, {
      kind: 'organization.deleted',
      actorId: actor.user.id,
      ownerId: organization.id,
      payload: { userId: organization.id, name: organization.name },
    })
    await holdNames(tx, context, organization)
    await tx.delete(users).where(eq(users.id, organization.id))
  })
}
