import { t } from 'elysia'
import { int64 } from '../../wire/fields.ts'

const text = (maxLength: number, description?: string) =>
  t.Optional(t.String({ maxLength, ...(description !== undefined && { description }) }))
const yesNo = (description?: string) => t.Optional(t.Boolean(description === undefined ? {} : { description }))

const NOT_CARRIED = 'Not carried over yet, which `GET /repos/{owner}/{repo}/migration` says again'

export type MigrateRepoOptions = typeof MigrateRepoOptions.static
export const MigrateRepoOptions = t.Object(
  {
    clone_addr: t.String({ minLength: 1, maxLength: 2048, description: 'http or https' }),
    repo_name: t.String({ minLength: 1, maxLength: 100 }),
    repo_owner: text(40, 'Without it: your own account'),
    uid: t.Optional(int64({ description: 'The id of the owner; `repo_owner` counts first' })),
    service: text(50, '`gitea`, `forgejo` or `hearth`; every other server is talked to as plain Git'),
    auth_username: text(255),
    auth_password: text(1024),
    auth_token: text(1024, 'In place of the password'),
    description: text(2048),
    private: yesNo(),
    mirror: yesNo('Whether it is brought up to date again and again'),
    mirror_interval: text(50, 'Such as 8h30m; 0 is never by the clock'),
    issues: yesNo('With their comments. As the following: of a `service`, and not for mirrors'),
    labels: yesNo(),
    milestones: yesNo(),
    pull_requests: yesNo(NOT_CARRIED),
    releases: yesNo(),
    wiki: yesNo(),
    lfs: yesNo(NOT_CARRIED),
    lfs_endpoint: text(2048, 'Passed over'),
    aws_access_key_id: text(255, 'Not taken'),
    aws_secret_access_key: text(255, 'Not taken'),
  },
  { $id: 'MigrateRepoOptions' },
)

export type RetryMigrationOption = typeof RetryMigrationOption.static
export const RetryMigrationOption = t.Object(
  {
    auth_username: text(255, 'Without any of these: with the credentials of before'),
    auth_password: text(1024),
    auth_token: text(1024, 'In place of the password'),
  },
  { $id: 'RetryMigrationOption' },
)
