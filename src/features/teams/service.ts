import type { Db } from '../../../db/client.ts'
import type { TeamRow } from '../../../db/schema/organizations.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import { violatedConstraint } from '../../../db/violations.ts'
import { requireOwnedQuota } from '../../access/quota.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import type { TeamAccess } from '../../http/team-gate.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import type { ShownTeam } from '../../wire/team.ts'
import { lockOrganization } from '../organizations/store.ts'
import type { CreateTeamOption, EditTeamOption } from './schema.ts'
import {
  countTeams,
  insertTeam,
  loadUnits,
  lockTeam,
  type NewTeam,
  removeTeam,
  replaceUnits,
  updateTeam,
} from './store.ts'
import { leavesOwners, readRights } from './units.ts'

/** @throws Refusal 422 for a name that is taken or cannot be one, for a team that would reach nothing, for unknown units */
export async function createTeam(
  { db, config }: Context,
  { actor, organization, option }: { actor: Actor; organization: UserRow; option: CreateTeamOption },
): Promise<ShownTeam> {
  requireTeamName(option.name)
  const { permission, units } = readRights(option)
  const values: NewTeam = {
    organizationId: organization.id,
    name: option.name,
    description: option.description,
    permission,
    visibility: option.visibility || 'public',
    includesAllRepositories: option.includes_all_repositories,
    canCreateOrgRepo: permission === 'admin' || option.can_create_org_repo,
  }
  return takingName(organization, option.name, () =>
    db.transaction(async (tx) => {
      const team = await insertTeam(tx, values)
      await requireOwnedQuota(tx, config, {
        items: 'teams',
        of: `account ${organization.id}`,
        count: () => countTeams(tx, organization.id),
      })
      await replaceUnits(tx, team.id, units)
      await record(tx, actor, { action: 'team.create', organization, team, after: { ...values, units } })
      return { team, units, organization }
    }),
  )
}

/**
 * What is left out stays.
 * @throws Refusal 404 when the team has gone, 422 as `createTeam` and for the owners' rights and name, which do not change
 */
export async function editTeam(
  { db }: Context,
  { actor, team: access, option }: { actor: Actor; team: TeamAccess; option: EditTeamOption },
): Promise<ShownTeam> {
  const { organization } = access
  if (option.name) requireTeamName(option.name)
  return takingName(organization, option.name ?? '', () =>
    db.transaction(async (tx) => {
      const before = await lockTeam(tx, access.row.id)
      if (!before) throw notFound()
      const units = (await loadUnits(tx, [before.id])).get(before.id) ?? {}
      if (before.permission === 'owner') requireOwnersKept(before, option)
      const old = { permission: before.permission, units }
      const rights = before.permission === 'owner' ? old : readRights(option, old)
      const change = {
        name: option.name || undefined,
        description: option.description,
        permission: rights.permission,
        visibility: option.visibility || undefined,
        includesAllRepositories: option.includes_all_repositories,
        canCreateOrgRepo: rights.permission === 'admin' ? true : option.can_create_org_repo,
      }
      const team = await updateTeam(tx, before.id, change)
      if (!team) throw notFound()
      await replaceUnits(tx, team.id, rights.units)
      const after = { ...change, units: rights.units }
      await record(tx, actor, { action: 'team.edit', organization, team, before: { ...before, units }, after })
      return { team, units: rights.units, organization }
    }),
  )
}

/** @throws Refusal 404 when somebody else was quicker, 422 for the team of owners */
export async function deleteTeam(
  { db }: Context,
  { actor, team: { row, organization } }: { actor: Actor; team: TeamAccess },
): Promise<void> {
  if (row.permission === 'owner') throw invalid('the team of owners cannot be deleted')
  await db.transaction(async (tx) => {
    await lockOrganization(tx, organization.id)
    if (!(await removeTeam(tx, row.id))) throw notFound()
    await record(tx, actor, { action: 'team.delete', organization, team: row, before: row })
  })
}

/** Adds what teams show beside their own row: one statement, however many there are. */
export async function loadTeams(db: Db, rows: readonly Omit<ShownTeam, 'units'>[]): Promise<ShownTeam[]> {
  const units = await loadUnits(
    db,
    rows.map(({ team }) => team.id),
  )
  return rows.map((row) => ({ ...row, units: units.get(row.team.id) ?? {} }))
}

/** Its rights are what keeps the organization governable, and its name is how people know it. */
function requireOwnersKept(before: TeamRow, option: EditTeamOption): void {
  const stays =
    leavesOwners(option) && option.includes_all_repositories !== false && option.can_create_org_repo !== false
  if (!stays) throw invalid('the rights of the team of owners cannot be changed')
  if (option.name && option.name !== before.name) throw invalid('the team of owners cannot be renamed', 'name')
}

/** @throws Refusal 422 */
function requireTeamName(name: string): void {
  if (!/^[A-Za-z0-9_.-]+$/.test(name)) throw invalid('AlphaDashDot', 'name')
  // It could not be named in a path.
  if (name === '.' || name === '..') throw invalid(`name is reserved [name: ${name}]`)
}

/** The database keeps names apart, in any letter case; the answer uses the words of the Gitea API. */
async function takingName<Result>(organization: UserRow, name: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (violatedConstraint(error) !== 'teams_organization_name_key') throw error
    throw invalid(`team already exists [org_id: ${organization.id}, name: ${name}]`)
  }
}

interface TeamChange {
  action: `team.${string}`
  organization: UserRow
  team: TeamRow
  before?: object
  after?: object
}

const record = (tx: Db, actor: Actor, { action, organization, team, before, after }: TeamChange): Promise<void> =>
  recordAudit(tx, actor, {
    action,
    subject: { kind: 'team', id: team.id, name: `${organization.name}/${team.name}` },
    ...(before && { before }),
    ...(after && { after }),
  })
