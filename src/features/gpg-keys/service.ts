import type { Db } from '../../../db/client.ts'
import type { GpgKeyRow } from '../../../db/schema/gpg-keys.ts'
import { violatedConstraint } from '../../../db/violations.ts'
import { requireOwnedQuota } from '../../access/quota.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import type { Certificate, CertifiedKey } from '../../signatures/openpgp/model.ts'
import { CertificateError } from '../../signatures/openpgp.ts'
import { lockAccount } from '../users/lock.ts'
import { isProof } from './proof.ts'
import type { CreateGPGKeyOption, VerifyGPGKeyOption } from './schema.ts'
import {
  countPrimaryKeys,
  findPrimaryKey,
  findPrimaryKeyByKeyId,
  insertGpgKeys,
  listProvenAddresses,
  markVerified,
  removeClaims,
  removeGpgKey,
} from './store.ts'
import { gpgKeyToken } from './token.ts'

/**
 * Adds a key with its subkeys. It has to bear an address that is proven to be the caller's, or come with a signature over the token. Who signs
 * the token gets the key also where another account holds it without such a proof: that account loses it.
 * @throws Refusal 404 when it has neither (Wire: as Gitea), 422 for a key that cannot be used and for one that
 * another account holds
 */
export async function addGpgKey(context: Context, actor: Actor, option: CreateGPGKeyOption): Promise<GpgKeyRow> {
  const { db } = context
  const certificate = await read(context, option.armored_public_key)
  const isVerified = await requireOwnership(context, actor, { certificate, armored: option.armored_signature })
  const { primary, subkeys, emails } = certificate
  try {
    return await db.transaction(async (tx) => {
      await lockAccount(tx, actor.user.id)
      if (isVerified) await takeFromClaimants(tx, actor, certificate)
      const values = { ...valuesOf(primary, actor), certificate: certificate.bytes, emails, isVerified }
      const [row] = await insertGpgKeys(tx, [values])
      if (row === undefined) throw new Error('insert returned no row')
      await insertGpgKeys(
        tx,
        subkeys.map((subkey) => ({ ...valuesOf(subkey, actor), primaryId: row.id })),
      )
      await requireOwnedQuota(tx, context.config, {
        items: 'keys',
        of: `OpenPGP ${actor.user.id}`,
        count: () => countPrimaryKeys(tx, actor.user.id),
      })
      const after = factsOf(row, actor.user.name)
      await recordAudit(tx, actor, { action: 'gpg_key.create', subject: subjectOf(row), after })
      return row
    })
  } catch (error) {
    if (violatedConstraint(error) !== 'gpg_keys_key_id_key') throw error
    throw invalid(isVerified ? TAKEN : `${TAKEN}. If it is yours, ${remedy(gpgKeyToken(context, actor.user))}`)
  }
}

/** Wire: the first words are those that clients look for. */
const TAKEN = 'A key with the same id already exists'

const remedy = (token: string): string => `provide a valid signature for the token: ${token}`

async function takeFromClaimants(tx: Db, actor: Actor, { primary, subkeys }: Certificate): Promise<void> {
  const keys = [primary, ...subkeys.filter(({ canSign }) => canSign)]
  for (const { row, ownerName } of await removeClaims(tx, actor.user.id, keys)) {
    const before = factsOf(row, ownerName)
    await recordAudit(tx, actor, { action: 'gpg_key.delete', subject: subjectOf(row), before })
  }
}

async function read({ openPgp, clock }: Context, armored: string): Promise<Certificate> {
  try {
    return await openPgp.readCertificate(armored, clock.now())
  } catch (error) {
    if (!(error instanceof CertificateError)) throw error
    throw invalid(`Invalid key content: it ${error.message}`, 'armored_public_key')
  }
}

/** Returns whether the caller has proved to hold the key. @throws Refusal 404 */
async function requireOwnership(
  context: Context,
  actor: Actor,
  { certificate, armored = '' }: { certificate: Certificate; armored: string | undefined },
): Promise<boolean> {
  const { user } = actor
  if (armored !== '') {
    if (await isProof(context, actor, { certificate: certificate.bytes, armored })) return true
    throw notFound(mismatch(gpgKeyToken(context, user)))
  }
  const confirmed = await listProvenAddresses(context.db, user.id)
  if (certificate.emails.some((email) => confirmed.has(email.toLowerCase()))) return false
  throw notFound(
    'None of the emails attached to the GPG key could be found. It may still be added if you provide a valid signature ' +
      `for the token: ${gpgKeyToken(context, user)}`,
  )
}

const mismatch = (token: string): string =>
  'The provided GPG key, signature and token do not match or token is out of date. Provide a valid signature for the ' +
  `token: ${token}`

/**
 * Marks an own key as proved by a signature over the token, made with it or with one of its subkeys.
 * @throws Refusal 404 for an unknown key, 422 for a signature that proves nothing
 */
export async function verifyGpgKey(context: Context, actor: Actor, option: VerifyGPGKeyOption): Promise<GpgKeyRow> {
  const { db } = context
  const keyId = option.key_id.trim().replace(/^0x/i, '').toUpperCase().slice(-16).padStart(16, '0')
  const row = await findPrimaryKeyByKeyId(db, actor.user.id, keyId)
  if (!row?.certificate) throw notFound()
  if (!(await isProof(context, actor, { certificate: row.certificate, armored: option.armored_signature })))
    throw invalid(mismatch(gpgKeyToken(context, actor.user)))
  if (row.isVerified) return row
  await db.transaction(async (tx) => {
    if (!(await markVerified(tx, row.id))) return
    await recordAudit(tx, actor, {
      action: 'gpg_key.verify',
      subject: subjectOf(row),
      before: { verified: false },
      after: { verified: true },
    })
  })
  // As it is now: another account may have proved to hold the key meanwhile, and has it then.
  return getOwnGpgKey(context, actor, row.id)
}

/** @throws Refusal 404 for an unknown key, for a subkey and for a key of another person */
export async function getOwnGpgKey({ db }: Context, actor: Actor, id: number | undefined): Promise<GpgKeyRow> {
  const row = id === undefined ? undefined : await findPrimaryKey(db, actor.user.id, id)
  if (!row) throw notFound()
  return row
}

/** @throws Refusal 404 as above */
export async function deleteGpgKey(context: Context, actor: Actor, id: number | undefined): Promise<void> {
  const row = await getOwnGpgKey(context, actor, id)
  await context.db.transaction(async (tx) => {
    if (!(await removeGpgKey(tx, actor.user.id, row.id))) throw notFound()
    await recordAudit(tx, actor, {
      action: 'gpg_key.delete',
      subject: subjectOf(row),
      before: factsOf(row, actor.user.name),
    })
  })
}

const valuesOf = (key: CertifiedKey, { user }: Actor) => ({ ...key, userId: user.id })

const subjectOf = (row: GpgKeyRow) => ({ kind: 'gpg_key', id: row.id, name: row.keyId })

const factsOf = ({ fingerprint, emails, isVerified }: GpgKeyRow, owner: string) => ({
  fingerprint,
  emails,
  verified: isVerified,
  owner,
})
