import { and, eq, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { anyOf } from '../../db/any-of.ts'
import type { Db } from '../../db/client.ts'
import { publicKeys } from '../../db/schema/credentials.ts'
import { gpgKeys } from '../../db/schema/gpg-keys.ts'
import { emails, users } from '../../db/schema/users.ts'

export interface Owner {
  id: number
  name: string
}

export interface KnownGpgKey {
  keyId: string
  /** Of the whole key. */
  certificate: Uint8Array | null
  canSign: boolean
  owner: Owner
}

const owner = { id: users.id, name: users.name }
const primaries = alias(gpgKeys, 'primaries')

/**
 * The keys with these identifiers whose owners the reader may see. A key that its owner has not verified counts while one of its addresses
 * is a confirmed address of the owner.
 */
export function findGpgKeys(db: Db, keyIds: readonly string[], isVisible: SQL): Promise<KnownGpgKey[]> {
  if (keyIds.length === 0) return Promise.resolve([])
  const hasAddress = sql`exists (select 1 from ${emails} where ${emails.userId} = ${users.id} and ${emails.isActivated}
    and ${emails.lowerEmail} in (select lower(address) from unnest(${primaries.emails}) address))`
  return db
    .select({
      keyId: gpgKeys.keyId,
      certificate: primaries.certificate,
      canSign: gpgKeys.canSign,
      owner,
    })
    .from(gpgKeys)
    .innerJoin(primaries, eq(primaries.id, sql`coalesce(${gpgKeys.primaryId}, ${gpgKeys.id})`))
    .innerJoin(users, eq(users.id, gpgKeys.userId))
    .where(
      and(
        anyOf(gpgKeys.keyId, keyIds),
        // In the words of the partial index, not as a parameter: other subkeys may be anybody's.
        sql`(${gpgKeys.primaryId} is null or ${gpgKeys.canSign})`,
        isVisible,
        sql`(${primaries.isVerified} or ${hasAddress})`,
      ),
    )
}

/** The owners of SSH keys by fingerprint, if the reader may know of them. */
export async function findSshKeyOwners(
  db: Db,
  fingerprints: readonly string[],
  isVisible: SQL,
): Promise<Map<string, Owner>> {
  if (fingerprints.length === 0) return new Map()
  const rows = await db
    .select({ fingerprint: publicKeys.fingerprint, owner })
    .from(publicKeys)
    .innerJoin(users, eq(users.id, publicKeys.userId))
    .where(and(anyOf(publicKeys.fingerprint, fingerprints), isVisible))
  return new Map(rows.map((row) => [row.fingerprint, row.owner]))
}

/** Whose confirmed address it is, by address in lower case. */
export async function findAddressOwners(db: Db, addresses: readonly string[]): Promise<Map<string, number>> {
  if (addresses.length === 0) return new Map()
  const rows = await db
    .select({ email: emails.lowerEmail, userId: emails.userId })
    .from(emails)
    .where(and(anyOf(emails.lowerEmail, addresses), sql`${emails.isActivated}`))
  return new Map(rows.map(({ email, userId }) => [email, userId]))
}
