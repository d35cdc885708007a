import { and, eq } from 'drizzle-orm'
import { teamMembers, teams } from '../../db/schema/organizations.ts'
import type { UserRow } from '../../db/schema/users.ts'
import { maySeeOwner } from '../access/decide.ts'
import { findAccountByAnyName, mayCreateIn } from '../access/load-account.ts'
import type { Actor } from '../auth/actor.ts'
import type { Context } from '../context.ts'
import { forbidden, notFound } from '../kernel/errors.ts'
import { movedTo } from './moved.ts'

/** The organization that a path names, with what the caller is to it. */
export interface OrganizationAccess {
  row: UserRow
  isMember: boolean
  /** In its team of owners, or a site administrator. */
  isOwner: boolean
  version: string
}

/** `creator`: may make repositories for it. */
export type OrganizationRole = 'member' | 'owner' | 'creator'

export interface OrganizationRule {
  role?: OrganizationRole
  /** Wire: the deprecated operation says only `not found` of an unknown one. */
  isTerse?: boolean
}

/**
 * @throws Refusal 404 in the same words for an unknown and for a hidden organization, 307 to the new name of a renamed one, 403
 * when the caller sees it but lacks the role
 */
export async function organizationFor(
  context: Context,
  actor: Actor | undefined,
  { request, name }: { request: Request; name: string },
  rule: OrganizationRule,
): Promise<OrganizationAccess> {
  const organization = await visibleOrganization(context, actor, { request, name }, rule)
  if (rule.role === 'owner' && !organization.isOwner) throw forbidden('Must be an organization owner')
  if (rule.role === 'member' && !organization.isOwner && !organization.isMember)
    throw forbidden('Must be an organization member')
  if (rule.role === 'creator' && !organization.isOwner && !(await mayCreate(context, actor, organization.row.id)))
    throw forbidden('User is not allowed to create repositories in this organization.')
  return organization
}

async function visibleOrganization(
  context: Context,
  actor: Actor | undefined,
  { request, name }: { request: Request; name: string },
  { isTerse = false }: OrganizationRule,
): Promise<OrganizationAccess> {
  const found = await findAccountByAnyName(context.db, name, actor?.user.id)
  if (found && maySeeOwner(context.config, actor, found.row, found.isRelated)) {
    if (found.isMoved) throw movedTo(request, { status: 307, from: [name], to: [found.row.name] })
    if (found.row.kind === 'organization') {
      const { row, version, isRelated } = found
      return { row, version, isMember: isRelated, isOwner: await isOwner(context, actor, row.id) }
    }
  }
  if (isTerse) throw notFound()
  throw notFound('GetOrgByName', [`user redirect does not exist [name: ${name}]`])
}

const mayCreate = async ({ db }: Context, actor: Actor | undefined, organizationId: number): Promise<boolean> =>
  actor !== undefined && mayCreateIn(db, organizationId, actor.user.id)

async function isOwner({ db }: Context, actor: Actor | undefined, organizationId: number): Promise<boolean> {
  if (!actor) return false
  if (actor.user.isAdmin) return true
  const [row] = await db
    .select({ teamId: teams.id })
    .from(teams)
    .innerJoin(teamMembers, eq(teamMembers.teamId, teams.id))
    .where(
      and(
        eq(teams.organizationId, organizationId),
        eq(teams.permission, 'owner'),
        eq(teamMembers.userId, actor.user.id),
      ),
    )
  return row !== undefined
}
