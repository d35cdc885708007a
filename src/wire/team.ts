import { t } from 'elysia'
import { type PermissionWord, permissionWords, type TeamRow } from '../../db/schema/organizations.ts'
import type { UserRow } from '../../db/schema/users.ts'
import { units } from '../access/units.ts'
import { int64 } from './fields.ts'
import { Organization, presentOrganization } from './organization.ts'
import type { Viewer } from './viewer.ts'

const Word = t.Union([t.Literal('none'), t.Literal('read'), t.Literal('write'), t.Literal('admin'), t.Literal('owner')])

export type Team = typeof Team.static
export const Team = t.Object(
  {
    id: int64(),
    name: t.String(),
    description: t.String(),
    organization: t.Nullable(Organization),
    includes_all_repositories: t.Boolean(),
    permission: Word,
    units: t.Array(t.String()),
    units_map: t.Record(t.String(), Word),
    can_create_org_repo: t.Boolean(),
    visibility: t.String(),
  },
  { $id: 'Team' },
)

export interface ShownTeam {
  team: TeamRow
  units: Partial<Record<string, PermissionWord>>
  /** Wire: lists within an organization do not repeat it. */
  organization?: UserRow
}

export function presentTeam({ team, units: given, organization }: ShownTeam, viewer: Viewer): Team {
  const unitsMap = team.permission === 'none' ? knownWords(given) : everyUnit(team.permission)
  return {
    id: team.id,
    name: team.name,
    description: team.description,
    organization: organization ? presentOrganization(organization, viewer) : null,
    includes_all_repositories: team.includesAllRepositories,
    permission: team.permission,
    units: Object.keys(unitsMap),
    units_map: unitsMap,
    can_create_org_repo: team.canCreateOrgRepo,
    visibility: team.visibility,
  }
}

/** Owners and administrators of a team reach every unit, those to come included, so nothing of it is stored. */
const everyUnit = (word: PermissionWord): Record<string, PermissionWord> =>
  Object.fromEntries(units.map((unit) => [unit, word]))

function knownWords(given: Partial<Record<string, PermissionWord>>): Record<string, PermissionWord> {
  const known = Object.entries(given).flatMap(([unit, word]): [string, PermissionWord][] =>
    word !== undefined && permissionWords.includes(word) ? [[unit, word]] : [],
  )
  return Object.fromEntries(known)
}
