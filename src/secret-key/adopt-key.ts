import { isNotNull, sql } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { actionsRegistrationTokens, actionsTasks } from '../../db/schema/actions.ts'
import { actionsValues } from '../../db/schema/actions-values.ts'
import { authSources } from '../../db/schema/auth-sources.ts'
import { recoveryCodes, twoFactors } from '../../db/schema/credentials.ts'
import { hooks } from '../../db/schema/hooks.ts'
import { instance } from '../../db/schema/instance.ts'
import { migrations } from '../../db/schema/migrations.ts'
import { pullMirrors, pushMirrors } from '../../db/schema/mirrors.ts'
import { oauthSigningKeys } from '../../db/schema/oauth.ts'
import { recordAudit } from '../audit/record.ts'
import { countJobs, dropJobs } from '../jobs/drop.ts'
import { purposePlaces, sealedTables } from './sealed-places.ts'

/** What is sealed with the secret key, as numbers of rows. */
export interface SealedRows {
  secondFactors: number
  hooks: number
  mirrors: number
  signingKeys: number
  authSources: number
  actionsSecrets: number
  registrationTokens: number
  mails: number
}

/** A hook that cannot do its work without what is sealed: a secret, a header, or a part of the address that is shown as stars. */
const needsSecret = sql`(secret is not null or authorization_header is not null or position('***' in url) > 0)`

export async function countSealedRows(db: Db): Promise<SealedRows> {
  const [row] = await db.execute<Record<keyof Omit<SealedRows, 'mails'>, number>>(sql`
    select (select count(*)::int from ${twoFactors}) as "secondFactors",
      (select count(*)::int from ${hooks} where ${needsSecret}) as hooks,
      (select count(*)::int from ${pullMirrors} where credentials is not null)
        + (select count(*)::int from ${pushMirrors} where credentials is not null)
        + (select count(*)::int from ${migrations} where credentials is not null) as mirrors,
      (select count(*)::int from ${oauthSigningKeys}) as "signingKeys",
      (select count(*)::int from ${authSources} where client_secret is not null) as "authSources",
      (select count(*)::int from ${actionsValues} where kind = 'secret') as "actionsSecrets",
      (select count(*)::int from ${actionsRegistrationTokens}) as "registrationTokens"`)
  if (row === undefined) throw new Error('the select returned no row')
  return { ...row, mails: await countJobs(db, 'mail.send') }
}

/**
 * Gives up everything that was sealed with a key that is lost, and records the fingerprint of another one: all of it or nothing. Hooks
 * that lose something are switched off, because their receivers could not trust what they send. Mirrors without their credentials are not
 * tried by the clock any more, and nobody signs in by a provider whose secret is lost. Of other hooks the address is known,
 * and the next start seals it.
 */
export async function adoptKey(db: Db, fingerprint: string): Promise<SealedRows> {
  return db.transaction(async (tx) => {
    const tables = sealedTables.map((name) => sql.identifier(name))
    await tx.execute(sql`lock table ${sql.join(tables, sql`, `)} in share row exclusive mode`)
    const lost = await countSealedRows(tx)
    await tx.execute(sql`delete from ${recoveryCodes} where user_id in (select user_id from ${twoFactors})`)
    await tx.delete(twoFactors)
    await tx.execute(sql`
      update ${hooks} set is_active = is_active and not ${needsSecret}, secret = null, authorization_header = null, sealed_url = null`)
    for (const mirrors of [pullMirrors, pushMirrors])
      await tx.execute(sql`
        update ${mirrors} set credentials = null, next_at = null, last_error = 'the credentials were given up with the secret key'
        where credentials is not null`)
    await tx.execute(sql`
      update ${migrations} set credentials = null, next_at = null, last_error = 'the credentials were given up with the secret key'
      where credentials is not null`)
    await tx.delete(oauthSigningKeys)
    await tx.execute(sql`delete from ${actionsValues} where kind = 'secret'`)
    await tx.delete(actionsRegistrationTokens)
    // Without its masks nothing more of a log can be shown.
    await tx.execute(sql`update ${actionsTasks} set masks = null, is_log_complete = true where masks is not null`)
    // Without its secret nobody can come in by it, and some providers take anybody's word for a public client.
    await tx
      .update(authSources)
      .set({ clientSecret: null, isActive: false, updatedAt: sql`clock_timestamp()` })
      .where(isNotNull(authSources.clientSecret))
    await dropJobs(tx, 'mail.send')
    await dropJobs(tx, 'account.recover')
    await requireAllCleared(tx)
    await tx.delete(instance)
    await tx.insert(instance).values({ keyFingerprint: fingerprint })
    await recordAudit(tx, 'command line', { action: 'secret_key.adopt', subject: { kind: 'site' }, after: lost })
    return lost
  })
}

async function requireAllCleared(tx: Db): Promise<void> {
  for (const { purpose, place } of purposePlaces)
    if ((await tx.execute(place.next(undefined, 1))).length > 0)
      throw new Error(`nothing clears ${purpose} in ${place.table}`)
}
