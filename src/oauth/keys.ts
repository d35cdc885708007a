import { and, asc, eq, isNull, lt } from 'drizzle-orm'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose'
import { type OAuthSigningKeyRow, oauthSigningKeys } from '../../db/schema/oauth.ts'
import type { Context } from '../context.ts'

export type SigningAlgorithm = OAuthSigningKeyRow['algorithm']

const PURPOSE = 'oauth signing key'
const DAY_MS = 86_400_000

/** Longer than any id token lasts (the largest OAUTH2_ACCESS_TOKEN_EXPIRATION_TIME), and clocks that differ. */
const PUBLISHED_AFTER_MS = DAY_MS + 3_600_000

/** 2048 bits: a signature takes 0.6 ms, with 4096 it is 3.8 ms. */
const RSA_BITS = 2048

export interface SigningKey {
  kid: string
  algorithm: SigningAlgorithm
  privateKey: JWK
}

/** The key that signs now. The first use makes it, as does the first one after it grew old or another algorithm was set. */
export async function signingKey(context: Context): Promise<SigningKey> {
  const present = await findSigning(context)
  const known = present && !isOutdated(context, present) ? openKey(context, present) : undefined
  if (known) return known
  await replaceKey(context, present, await makeKey(context))
  // Of replicas that do this at once one has won.
  const winner = await findSigning(context)
  const made = winner && openKey(context, winner)
  if (!made) throw new Error('no key signs')
  return made
}

/** RFC 7517: the public keys that signatures are checked with, the one that signs first. */
export async function publishedKeys(context: Context): Promise<Record<string, string>[]> {
  const { kid } = await signingKey(context)
  const rows = await context.db.select().from(oauthSigningKeys).orderBy(asc(oauthSigningKeys.createdAt))
  const signing = rows.filter((row) => row.kid === kid)
  const retired = rows.filter((row) => row.kid !== kid)
  return [...signing, ...retired].map(({ publicKey, kid, algorithm }) => ({
    ...publicKey,
    alg: algorithm,
    kid,
    use: 'sig',
  }))
}

/** Forgets keys whose tokens have all ended. @returns how many */
export async function removeRetiredKeys({ db, clock }: Context): Promise<number> {
  const before = new Date(clock.now().getTime() - PUBLISHED_AFTER_MS)
  const gone = await db.delete(oauthSigningKeys).where(lt(oauthSigningKeys.retiredAt, before))
  return gone.count
}

async function findSigning({ db }: Context): Promise<OAuthSigningKeyRow | undefined> {
  const [row] = await db.select().from(oauthSigningKeys).where(isNull(oauthSigningKeys.retiredAt))
  return row
}

function isOutdated({ config, clock }: Context, { algorithm, createdAt }: OAuthSigningKeyRow): boolean {
  if (algorithm !== config.oauth2JwtSigningAlgorithm) return true
  const days = config.oauth2SigningKeyDays
  return days > 0 && clock.now().getTime() - createdAt.getTime() > days * DAY_MS
}

/** Undefined for one that was sealed with another secret key: it signs no more. */
function openKey({ secrets }: Context, { kid, algorithm, privateKey }: OAuthSigningKeyRow): SigningKey | undefined {
  const text = secrets.tryOpen(PURPOSE, privateKey)
  if (text === undefined) return undefined
  const jwk: JWK = JSON.parse(text)
  return { kid, algorithm, privateKey: jwk }
}

async function makeKey({ config, secrets, clock }: Context): Promise<OAuthSigningKeyRow> {
  const algorithm = config.oauth2JwtSigningAlgorithm
  const pair = await generateKeyPair(algorithm, { extractable: true, modulusLength: RSA_BITS })
  const publicKey = await exportJWK(pair.publicKey)
  return {
    kid: await calculateJwkThumbprint(publicKey),
    algorithm,
    publicKey: textsOf(publicKey),
    privateKey: secrets.seal(PURPOSE, JSON.stringify(await exportJWK(pair.privateKey))),
    createdAt: clock.now(),
    retiredAt: null,
  }
}

const textsOf = (jwk: JWK): Record<string, string> =>
  Object.fromEntries(
    Object.entries(jwk).flatMap(([name, value]): [string, string][] =>
      typeof value === 'string' ? [[name, value]] : [],
    ),
  )

async function replaceKey({ db, clock }: Context, old: OAuthSigningKeyRow | undefined, made: OAuthSigningKeyRow) {
  await db.transaction(async (tx) => {
    if (old)
      await tx
        .update(oauthSigningKeys)
        .set({ retiredAt: clock.now() })
        .where(and(eq(oauthSigningKeys.kid, old.kid), isNull(oauthSigningKeys.retiredAt)))
    // The index lets one key sign: whoever comes second keeps the first one's.
    await tx.insert(oauthSigningKeys).values(made).onConflictDoNothing()
  })
}
