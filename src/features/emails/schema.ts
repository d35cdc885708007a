import { t } from 'elysia'

const address = () => t.String({ maxLength: 254 })
const addresses = () => t.Array(address(), { maxItems: 50 })

export const CreateEmailOption = t.Object({ emails: t.Optional(addresses()) }, { $id: 'CreateEmailOption' })
export const DeleteEmailOption = t.Object({ emails: t.Optional(addresses()) }, { $id: 'DeleteEmailOption' })
export const SetPrimaryEmailOption = t.Object({ email: address() }, { $id: 'SetPrimaryEmailOption' })
