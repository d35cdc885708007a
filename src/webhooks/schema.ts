import { t } from 'elysia'
import { deliveryStates, hookTypes } from '../../db/schema/hooks.ts'
import { queryText } from '../http/query.ts'

const config = () =>
  t.Record(t.String(), t.String(), {
    description: '`url` and `content_type` (json or form); `secret`, `http_method`; for Slack `channel` and its looks.',
  })
const events = () => t.Optional(t.Array(t.String({ maxLength: 100 }), { maxItems: 200 }))
const rest = {
  active: t.Optional(t.Boolean()),
  authorization_header: t.Optional(t.String({ maxLength: 4096 })),
  branch_filter: t.Optional(t.String({ description: 'A glob of at most 256 characters' })),
  events: events(),
  name: t.Optional(t.String({ maxLength: 255 })),
}

export type CreateHookOption = typeof CreateHookOption.static
export const CreateHookOption = t.Object(
  { type: t.String({ minLength: 1, maxLength: 50, enum: [...hookTypes] }), config: config(), ...rest },
  { $id: 'CreateHookOption' },
)

export type EditHookOption = typeof EditHookOption.static
export const EditHookOption = t.Object({ config: t.Optional(config()), ...rest }, { $id: 'EditHookOption' })

export const deliveryQuery = {
  status: queryText({ description: 'waiting, delivered or failed', enum: deliveryStates }),
}

export const testQuery = {
  ref: queryText({ description: 'What the test says was pushed; the default branch without it' }),
}
