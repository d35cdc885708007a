import { t } from 'elysia'
import { visibilities } from '../../../db/schema/users.ts'
import { cursorQuery, queryBoolean, queryInteger, queryText } from '../../http/query.ts'
import { int64, wireInstant } from '../../wire/fields.ts'

/** Wire: an empty text means the default. */
const visibility = () =>
  t.Union([t.Literal('public'), t.Literal('limited'), t.Literal('private'), t.Literal('')], { error: 'In' })

export type CreateUserOption = typeof CreateUserOption.static
export const CreateUserOption = t.Object(
  {
    username: t.String({ minLength: 1 }),
    email: t.String({ minLength: 1, maxLength: 254 }),
    password: t.Optional(t.String({ maxLength: 255 })),
    full_name: t.Optional(t.String({ maxLength: 100 })),
    login_name: t.Optional(t.String({ maxLength: 255 })),
    source_id: t.Optional(int64()),
    must_change_password: t.Optional(t.Boolean({ description: 'At the first sign-in; true when left out.' })),
    restricted: t.Optional(t.Boolean()),
    send_notify: t.Optional(t.Boolean({ description: 'Tell them by mail, without the password.' })),
    visibility: t.Optional(visibility()),
    created_at: t.Optional(wireInstant()),
  },
  { $id: 'CreateUserOption' },
)

export type EditUserOption = typeof EditUserOption.static
export const EditUserOption = t.Object(
  {
    login_name: t.String({ minLength: 1, maxLength: 255 }),
    source_id: t.Optional(int64()),
    email: t.Optional(t.String({ maxLength: 254 })),
    full_name: t.Optional(t.String({ maxLength: 100 })),
    password: t.Optional(t.String({ maxLength: 255, description: 'Empty: as it was.' })),
    must_change_password: t.Optional(t.Boolean()),
    website: t.Optional(t.String({ maxLength: 255 })),
    location: t.Optional(t.String({ maxLength: 50 })),
    description: t.Optional(t.String({ maxLength: 255 })),
    active: t.Optional(t.Boolean()),
    admin: t.Optional(t.Boolean()),
    allow_git_hook: t.Optional(t.Boolean()),
    allow_import_local: t.Optional(t.Boolean()),
    allow_create_organization: t.Optional(t.Boolean()),
    max_repo_creation: t.Optional(int64({ minimum: -1, maximum: 2_147_483_647 })),
    prohibit_login: t.Optional(t.Boolean()),
    restricted: t.Optional(t.Boolean()),
    visibility: t.Optional(visibility()),
  },
  { $id: 'EditUserOption' },
)

export const RenameUserOption = t.Object({ new_username: t.String({ minLength: 1 }) }, { $id: 'RenameUserOption' })

export type UserSearchQuery = typeof UserSearchQuery.static
export const UserSearchQuery = t.Object({
  q: queryText(),
  login_name: queryText(),
  source_id: queryInteger(),
  sort: queryText({ enum: ['name', 'created', 'updated', 'id'] }),
  order: queryText({ enum: ['asc', 'desc'] }),
  visibility: queryText({ enum: visibilities }),
  is_active: queryBoolean(),
  is_admin: queryBoolean(),
  is_restricted: queryBoolean(),
  is_2fa_enabled: queryBoolean(),
  is_prohibit_login: queryBoolean(),
  ...cursorQuery,
})

export const PurgeQuery = t.Object({ purge: queryBoolean() })
