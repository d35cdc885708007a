import { and, eq, sql } from 'drizzle-orm'
import { beyondNewest } from '../../db/beyond-newest.ts'
import type { Db } from '../../db/client.ts'
import {
  type OAuthApplicationRow,
  type OAuthGrantRow,
  oauthAuthorizations,
  oauthGrants,
} from '../../db/schema/oauth.ts'
import { recordAudit } from '../audit/record.ts'
import type { Actor } from '../auth/actor.ts'
import { makeOAuthSecret } from '../auth/oauth-secrets.ts'
import type { Context } from '../context.ts'
import { sha256Hex } from '../kernel/hashing.ts'
import { joinedScopes } from './scopes.ts'

/** RFC 6749, 4.1.2. */
const CODE_MS = 600_000

/** A code that comes too late is answered so for a while. */
const KEPT_MS = 3_600_000

/** An application that a person signs in to from more devices than this loses the oldest. */
const MAX_AUTHORIZATIONS = 100

/** What a code is bound to of the request that it answers. */
export interface BoundRequest {
  scopes: string[]
  /** `scope` as it was asked for. */
  requestedScope: string
  redirectUri: string
  nonce: string | null
  codeChallenge: string | null
  codeChallengeMethod: 'S256' | 'plain' | null
}

/** These fields alone, as the tables of requests and of authorizations both have them. */
export const boundRequestOf = (request: BoundRequest): BoundRequest => {
  const { scopes, requestedScope, redirectUri, nonce, codeChallenge, codeChallengeMethod } = request
  return { scopes, requestedScope, redirectUri, nonce, codeChallenge, codeChallengeMethod }
}

/** What a person says yes to. */
export interface Consented extends BoundRequest {
  application: OAuthApplicationRow
  person: Actor
  /** When the person signed in. */
  authTime: Date
}

/** Records the consent, and returns the code for it. @param tx a transaction of the caller */
export async function issueCode(context: Context, tx: Db, consented: Consented): Promise<string> {
  const code = makeOAuthSecret('code')
  const codeExpiresAt = new Date(context.clock.now().getTime() + CODE_MS)
  const expiresAt = new Date(codeExpiresAt.getTime() + KEPT_MS)
  await recordConsent(tx, consented, { codeHash: sha256Hex(code), codeExpiresAt, expiresAt })
  return code
}

/** Records the consent of somebody whose device waits for it. @returns the authorization */
export async function authorizeDevice(
  context: Context,
  tx: Db,
  consented: Pick<Consented, 'application' | 'person' | 'authTime' | 'scopes' | 'requestedScope'>,
): Promise<number> {
  const bare = { redirectUri: '', nonce: null, codeChallenge: null, codeChallengeMethod: null }
  const expiresAt = new Date(context.clock.now().getTime() + KEPT_MS)
  return recordConsent(tx, { ...consented, ...bare }, { codeHash: null, codeExpiresAt: null, expiresAt })
}

async function recordConsent(
  tx: Db,
  consented: Consented,
  code: { codeHash: string | null; codeExpiresAt: Date | null; expiresAt: Date },
): Promise<number> {
  const grant = await widenGrant(tx, consented)
  const [made] = await tx
    .insert(oauthAuthorizations)
    .values({ ...boundRequestOf(consented), ...code, authTime: consented.authTime, grantId: grant.id })
    .returning({ id: oauthAuthorizations.id })
  if (!made) throw new Error('insert returned no row')
  await removeOldest(tx, grant.id)
  return made.id
}

/** Of two consents at once the second one waits for the first, and adds to it. */
async function widenGrant(
  tx: Db,
  { application, person, scopes }: Pick<Consented, 'application' | 'person' | 'scopes'>,
): Promise<OAuthGrantRow> {
  const [userId, applicationId] = [person.user.id, application.id]
  const made = await tx.insert(oauthGrants).values({ userId, applicationId, scopes }).onConflictDoNothing().returning()
  const same = and(eq(oauthGrants.userId, userId), eq(oauthGrants.applicationId, applicationId))
  const [grant] = await tx.select().from(oauthGrants).where(same).for('update')
  if (!grant) throw new Error('the grant is gone')
  const joined = joinedScopes(grant.scopes, scopes)
  const isNew = made.length > 0
  if (!isNew && joined.join(' ') === grant.scopes.join(' ')) return grant
  await recordAudit(tx, person, {
    action: 'oauth_grant.allow',
    subject: { kind: 'oauth_grant', id: grant.id, name: application.name },
    before: isNew ? {} : { scopes: grant.scopes },
    after: { scopes: joined },
  })
  await tx.update(oauthGrants).set({ scopes: joined, updatedAt: sql`now()` }).where(eq(oauthGrants.id, grant.id))
  return grant
}

async function removeOldest(tx: Db, grantId: number): Promise<void> {
  const ofGrant = eq(oauthAuthorizations.grantId, grantId)
  const excess = beyondNewest(tx, oauthAuthorizations.id, { of: ofGrant, keep: MAX_AUTHORIZATIONS })
  await tx.delete(oauthAuthorizations).where(excess)
}
