import { t } from 'elysia'

export type EditActionRunnerOption = typeof EditActionRunnerOption.static
export const EditActionRunnerOption = t.Object({ disabled: t.Boolean() }, { $id: 'EditActionRunnerOption' })

export const RegistrationToken = t.Object(
  { token: t.String({ description: 'Makes machines runners of this scope. The same at each request' }) },
  { $id: 'RegistrationToken' },
)
