import { Type } from '@sinclair/typebox'
import { t } from 'elysia'

/** A full name of a ref. */
const MAX_REF_LENGTH = 1024

/** What a workflow declares as a boolean or a number may be sent as one. */
const inputValue = Type.Union([Type.String(), Type.Boolean(), Type.Number()])

export type CreateActionWorkflowDispatch = typeof CreateActionWorkflowDispatch.static
export const CreateActionWorkflowDispatch = t.Object(
  {
    ref: t.String({
      minLength: 1,
      maxLength: MAX_REF_LENGTH,
      description: 'A branch, else a tag; or a full name such as `refs/tags/v1`',
    }),
    inputs: t.Optional(t.Record(t.String(), inputValue, { description: 'By name, as the workflow declares them' })),
  },
  { $id: 'CreateActionWorkflowDispatch' },
)
