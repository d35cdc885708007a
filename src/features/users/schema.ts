import { t } from 'elysia'
import { User } from '../../wire/user.ts'

export const UserSearchResults = t.Object({ data: t.Array(User), ok: t.Boolean() }, { $id: 'UserSearchResults' })
