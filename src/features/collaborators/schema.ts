import { t } from 'elysia'
import { User } from '../../wire/user.ts'

export type AddCollaboratorOption = typeof AddCollaboratorOption.static
export const AddCollaboratorOption = t.Object(
  {
    permission: t.Optional(
      t.Union([t.Literal('read'), t.Literal('write'), t.Literal('admin'), t.Literal('')], {
        description: '`write` when it is left out.',
      }),
    ),
  },
  { $id: 'AddCollaboratorOption' },
)

export const RepoCollaboratorPermission = t.Object(
  { permission: t.String(), role_name: t.String(), user: User },
  { $id: 'RepoCollaboratorPermission' },
)
