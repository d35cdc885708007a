import { t } from 'elysia'
import { wireInstant } from '../../wire/fields.ts'

export type EditDeadlineOption = typeof EditDeadlineOption.static
export const EditDeadlineOption = t.Object({ due_date: t.Optional(wireInstant()) }, { $id: 'EditDeadlineOption' })
