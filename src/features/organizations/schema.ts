import { t } from 'elysia'

const visibility = () =>
  t.Optional(t.Union([t.Literal('public'), t.Literal('limited'), t.Literal('private'), t.Literal('')]))

const details = {
  full_name: t.Optional(t.String({ maxLength: 100 })),
  description: t.Optional(t.String({ maxLength: 255 })),
  email: t.Optional(t.String({ maxLength: 255 })),
  location: t.Optional(t.String({ maxLength: 50 })),
  website: t.Optional(t.String({ maxLength: 255 })),
  repo_admin_change_team_access: t.Optional(t.Boolean()),
  visibility: visibility(),
}

export type CreateOrgOption = typeof CreateOrgOption.static
export const CreateOrgOption = t.Object(
  { username: t.String({ minLength: 1, maxLength: 40 }), ...details },
  { $id: 'CreateOrgOption' },
)

export type EditOrgOption = typeof EditOrgOption.static
export const EditOrgOption = t.Object(details, { $id: 'EditOrgOption' })

export const RenameOrgOption = t.Object({ new_name: t.String({ minLength: 1 }) }, { $id: 'RenameOrgOption' })

export const OrganizationPermissions = t.Object(
  {
    is_owner: t.Boolean(),
    is_admin: t.Boolean(),
    can_write: t.Boolean(),
    can_read: t.Boolean(),
    can_create_repository: t.Boolean(),
  },
  { $id: 'OrganizationPermissions' },
)
