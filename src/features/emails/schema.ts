import { t } from 'elysia'

const addresses = () => t.Array(t.String({ maxLength: 254 }), { maxItems: 50 })

export const CreateEmailOption = t.Object({ emails: t.Optional(addresses()) }, { $id: 'CreateEmailOption' })
export const DeleteEmailOption = t.Object({ emails: t.Optional(addresses()) }, { $id: 'DeleteEmailOption' })
