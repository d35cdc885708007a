import { t } from 'elysia'

const text = (maxLength: number, description?: string) =>
  t.Optional(t.String({ maxLength, ...(description !== undefined && { description }) }))
const yesNo = (description?: string) => t.Optional(t.Boolean(description === undefined ? {} : { description }))

export type CreatePushMirrorOption = typeof CreatePushMirrorOption.static
export const CreatePushMirrorOption = t.Object(
  {
    remote_address: text(2048, 'http or https'),
    remote_username: text(255),
    remote_password: text(1024),
    interval: text(50, 'Such as 8h30m; 0 is never by the clock'),
    sync_on_commit: yesNo('Whether it follows each push at once'),
  },
  { $id: 'CreatePushMirrorOption' },
)
