import { t } from 'elysia'
import { Repository } from '../../wire/repository.ts'

export const SearchResults = t.Object({ ok: t.Boolean(), data: t.Array(Repository) }, { $id: 'SearchResults' })
