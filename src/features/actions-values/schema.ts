import { t } from 'elysia'

const MAX_VALUE_LENGTH = 65_536
const MAX_DESCRIPTION_LENGTH = 4096

const description = () => t.Optional(t.String({ maxLength: MAX_DESCRIPTION_LENGTH }))

export type CreateOrUpdateSecretOption = typeof CreateOrUpdateSecretOption.static
export const CreateOrUpdateSecretOption = t.Object(
  {
    data: t.String({ minLength: 1, maxLength: MAX_VALUE_LENGTH, description: 'The value, as it is' }),
    description: description(),
  },
  { $id: 'CreateOrUpdateSecretOption' },
)

export type CreateVariableOption = typeof CreateVariableOption.static
export const CreateVariableOption = t.Object(
  {
    value: t.String({ minLength: 1, maxLength: MAX_VALUE_LENGTH }),
    description: description(),
  },
  { $id: 'CreateVariableOption' },
)

export type UpdateVariableOption = typeof UpdateVariableOption.static
export const UpdateVariableOption = t.Object(
  {
    name: t.Optional(t.String({ maxLength: 255, description: 'A new name; empty: the name stays' })),
    value: t.String({ minLength: 1, maxLength: MAX_VALUE_LENGTH }),
    description: description(),
  },
  { $id: 'UpdateVariableOption' },
)
