import { t } from 'elysia'
import type { UserRow } from '../../db/schema/users.ts'
import { int64 } from './fields.ts'
import { avatarUrl } from './user.ts'
import type { Viewer } from './viewer.ts'

export type Organization = typeof Organization.static
export const Organization = t.Object(
  {
    id: int64(),
    name: t.String(),
    full_name: t.String(),
    email: t.String(),
    avatar_url: t.String(),
    description: t.String(),
    website: t.String(),
    location: t.String(),
    visibility: t.Union([t.Literal('public'), t.Literal('limited'), t.Literal('private')]),
    repo_admin_change_team_access: t.Boolean(),
    username: t.String(),
  },
  { $id: 'Organization' },
)

/** Wire: visitors do not see the address. */
export function presentOrganization(row: UserRow, viewer: Viewer): Organization {
  return {
    id: row.id,
    name: row.name,
    full_name: row.fullName,
    email: viewer.userId === undefined ? '' : row.email,
    avatar_url: avatarUrl(row, viewer.baseUrl),
    description: row.description,
    website: row.website,
    location: row.location,
    visibility: row.visibility,
    repo_admin_change_team_access: row.repoAdminChangeTeamAccess,
    username: row.name,
  }
}
