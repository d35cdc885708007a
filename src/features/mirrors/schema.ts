import { t } from 'elysia'
import { int64 } from '../../wire/fields.ts'

const text = (maxLength: number, description?: string) =>
  t.Optional(t.String({ maxLength, ...(description !== undefined && { description }) }))
const yesNo = (description?: string) => t.Optional(t.Boolean(description === undefined ? {} : { description }))
const notYet = () => yesNo('Not taken over yet: true is refused')

export type MigrateRepoOptions = typeof MigrateRepoOptions.static
export const MigrateRepoOptions = t.Object(
  {
    clone_addr: t.String({ minLength: 1, maxLength: 2048, description: 'http or https' }),
    repo_name: t.String({ minLength: 1, maxLength: 100 }),
    repo_owner: text(40, 'Without it: your own account'),
    uid: t.Optional(int64({ description: 'The id of the owner; `repo_owner` counts first' })),
    service: text(50, 'Every server is talked to as plain Git'),
    auth_username: text(255),
    auth_password: text(1024),
    auth_token: text(1024, 'In place of the password'),
    description: text(2048),
    private: yesNo(),
    mirror: yesNo('Whether it is brought up to date again and again'),
    mirror_interval: text(50, 'Such as 8h30m; 0 is never by the clock'),
    issues: notYet(),
    labels: notYet(),
    milestones: notYet(),
    pull_requests: notYet(),
    releases: notYet(),
    wiki: notYet(),
    lfs: notYet(),
    lfs_endpoint: text(2048, 'Refused with `lfs`'),
    aws_access_key_id: text(255, 'Not taken'),
    aws_secret_access_key: text(255, 'Not taken'),
  },
  { $id: 'MigrateRepoOptions' },
)

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
