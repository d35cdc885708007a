import type { TeamRow } from '../../../db/schema/organizations.ts'
import { findRepository } from '../../access/load.ts'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import { Level } from '../../access/units.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { withRights } from '../../http/repository-gate.ts'
import type { TeamAccess } from '../../http/team-gate.ts'
import { forbidden, invalid, notFound, Refusal } from '../../kernel/errors.ts'
import type { ShownTeam } from '../../wire/team.ts'
import { loadTeams } from '../teams/service.ts'
import {
  findTeamByName,
  insertTeamRepository,
  listRepositoryTeams,
  listTeamIdsOf,
  removeTeamRepository,
  teamReaches,
} from './store.ts'

interface Target {
  actor: Actor
  repo: RepositoryAccess
  /** Of the team. */
  name: string
}

/** @throws Refusal 405 where the owner is no organization. Teams that hide are left out for those outside of them. */
export async function listTeamsOf(
  context: Context,
  repo: RepositoryAccess,
  actor: Actor | undefined,
): Promise<ShownTeam[]> {
  requireOrganization(repo)
  const rows = await listRepositoryTeams(context.db, repo.repository)
  return shown(context, await visible(context, rows, { repo, actor }))
}

/** @throws Refusal 404 for a team that does not reach the repository or hides, 405 where the owner is no organization */
export async function getRepositoryTeam(
  context: Context,
  { actor, repo, name }: { actor: Actor | undefined; repo: RepositoryAccess; name: string },
): Promise<ShownTeam> {
  requireOrganization(repo)
  const rows = await listRepositoryTeams(context.db, repo.repository, name)
  const [team] = await shown(context, await visible(context, rows, { repo, actor }))
  if (!team) throw notFound()
  return team
}

/** @throws Refusal 403 where only owners give teams access, 404 for an unknown team, 405 without an organization, 422 for one that has it */
export async function addTeamToRepository(context: Context, target: Target): Promise<void> {
  const team = await requireChangeableTeam(context, target)
  if (reachesAll(team) || !(await grant(context, { ...target, team })))
    throw invalid(`team '${team.name}' is already added to repo`)
}

/** @throws Refusal as `addTeamToRepository`, 422 for a team without access and for one that reaches every repository */
export async function removeTeamFromRepository(context: Context, target: Target): Promise<void> {
  const team = await requireChangeableTeam(context, target)
  requireSingly(team)
  if (!(await revoke(context, { ...target, team }))) throw invalid(`team '${team.name}' was not added to repo`)
}

/** @throws Refusal 404 for a repository that the organization does not have or the caller does not see */
export async function getTeamsRepository(
  context: Context,
  { actor, team, org, name }: { actor: Actor; team: TeamAccess; org: string; name: string },
): Promise<RepositoryAccess> {
  const isOwn = org.toLowerCase() === team.organization.name.toLowerCase()
  const found = isOwn ? await findRepository(context.db, { owner: org, name }, actor.user.id) : undefined
  const repo = found && !found.isMoved && withRights(context, actor, found)
  if (!repo || repo.rights.highest < Level.read) throw notFound()
  return repo
}

/** @throws Refusal 404 as well for a repository that the team does not reach */
export async function getReachedRepository(
  context: Context,
  path: { actor: Actor; team: TeamAccess; org: string; name: string },
): Promise<RepositoryAccess> {
  const repo = await getTeamsRepository(context, path)
  if (!(await teamReaches(context.db, path.team.row.id, repo.repository.id))) throw notFound()
  return repo
}

interface TeamChange {
  actor: Actor
  repo: RepositoryAccess
  team: TeamRow
}

/** Gives the team access; once more changes nothing. @throws Refusal 403 unless the caller administers the repository and may */
export async function grantTeam(context: Context, change: TeamChange): Promise<void> {
  requireMayChange(change)
  await grant(context, change)
}

/** @throws Refusal 403 as `grantTeam`, 422 for a team that reaches every repository */
export async function revokeTeam(context: Context, change: TeamChange): Promise<void> {
  requireMayChange(change)
  requireSingly(change.team)
  await revoke(context, change)
}

/** Whether the team did not have it yet. */
async function grant({ db }: Context, { actor, repo, team }: TeamChange): Promise<boolean> {
  return db.transaction(async (tx) => {
    if (!(await insertTeamRepository(tx, team.id, repo.repository.id))) return false
    const subject = { kind: 'repository', id: repo.repository.id, name: repo.fullName }
    await recordAudit(tx, actor, { action: 'repository.add_team', subject, after: { team: team.name } })
    return true
  })
}

async function revoke({ db }: Context, { actor, repo, team }: TeamChange): Promise<boolean> {
  return db.transaction(async (tx) => {
    if (!(await removeTeamRepository(tx, team.id, repo.repository.id))) return false
    const subject = { kind: 'repository', id: repo.repository.id, name: repo.fullName }
    await recordAudit(tx, actor, { action: 'repository.remove_team', subject, before: { team: team.name } })
    return true
  })
}

async function requireChangeableTeam({ db }: Context, { actor, repo, name }: Target): Promise<TeamRow> {
  requireOrganization(repo)
  const team = await findTeamByName(db, repo.owner.id, name)
  if (!team) throw notFound(`team does not exist [name: ${name}]`)
  requireMayChange({ actor, repo, team })
  return team
}

/** Owners always may; other administrators of the repository where the organization lets them. */
function requireMayChange({ repo }: TeamChange): void {
  if (repo.rights.overall < Level.admin) throw forbidden('Must have admin-level access to the repository')
  if (repo.rights.overall < Level.owner && !repo.owner.repoAdminChangeTeamAccess)
    throw forbidden('only owners of the organization may change the access of teams')
}

const reachesAll = (team: TeamRow): boolean => team.includesAllRepositories || team.permission === 'owner'

function requireSingly(team: TeamRow): void {
  if (reachesAll(team)) throw invalid('the team reaches every repository of the organization')
}

function requireOrganization({ owner }: RepositoryAccess): void {
  if (owner.kind !== 'organization') throw new Refusal(405, 'repo is not owned by an organization')
}

/** A private team is for its own members and the owners to know. */
async function visible(
  { db }: Context,
  rows: TeamRow[],
  { repo, actor }: { repo: RepositoryAccess; actor: Actor | undefined },
): Promise<TeamRow[]> {
  if (repo.rights.overall >= Level.owner) return rows
  const own = new Set(actor ? await listTeamIdsOf(db, actor.user.id, repo.owner.id) : [])
  return rows.filter(({ id, visibility }) => visibility !== 'private' || own.has(id))
}

/** Wire: the organization is the owner of the repository, and is not repeated. */
const shown = ({ db }: Context, rows: TeamRow[]): Promise<ShownTeam[]> =>
  loadTeams(
    db,
    rows.map((team) => ({ team })),
  )
