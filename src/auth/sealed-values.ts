import { sql } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { actionsTasks } from '../../db/schema/actions.ts'
import { actionsValues } from '../../db/schema/actions-values.ts'
import { authSources } from '../../db/schema/auth-sources.ts'
import { twoFactors } from '../../db/schema/credentials.ts'
import { hooks } from '../../db/schema/hooks.ts'
import { pullMirrors, pushMirrors } from '../../db/schema/mirrors.ts'
import { oauthSigningKeys } from '../../db/schema/oauth.ts'
import type { Secrets } from './secrets.ts'

/** Enough to tell a wrong key from a damaged value. */
const MAX_OF_EACH_KIND = 1000

/** What the present key opens of the stored secrets. */
export async function countSealed(db: Db, secrets: Secrets): Promise<{ sealed: number; unreadable: number }> {
  const rows = await db.execute<{ purpose: string; sealed: Uint8Array }>(sql`
    (select 'two-factor' as purpose, secret as sealed from ${twoFactors} order by user_id desc limit ${MAX_OF_EACH_KIND})
    union all (select 'hook secret', secret from ${hooks} where secret is not null order by id desc limit ${MAX_OF_EACH_KIND})
    union all (select 'hook authorization', authorization_header from ${hooks}
      where authorization_header is not null order by id desc limit ${MAX_OF_EACH_KIND})
    union all (select 'hook url', sealed_url from ${hooks} where sealed_url is not null order by id desc limit ${MAX_OF_EACH_KIND})
    union all (select 'mirror credentials', credentials from ${pullMirrors}
      where credentials is not null order by repository_id desc limit ${MAX_OF_EACH_KIND})
    union all (select 'mirror credentials', credentials from ${pushMirrors}
      where credentials is not null order by id desc limit ${MAX_OF_EACH_KIND})
    union all (select 'actions secret', sealed_value from ${actionsValues} where kind = 'secret' order by id desc limit ${MAX_OF_EACH_KIND})
    union all (select 'actions masks', masks from ${actionsTasks}
      where status = 'in_progress' and masks is not null order by id desc limit ${MAX_OF_EACH_KIND})
    union all (select 'auth source secret', client_secret from ${authSources}
      where client_secret is not null order by id desc limit ${MAX_OF_EACH_KIND})
    union all (select 'oauth signing key', private_key from ${oauthSigningKeys} limit ${MAX_OF_EACH_KIND})`)
  const unreadable = rows.filter(({ purpose, sealed }) => secrets.tryOpen(purpose, sealed) === undefined)
  return { sealed: rows.length, unreadable: unreadable.length }
}
