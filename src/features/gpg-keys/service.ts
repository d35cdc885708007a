import type { GpgKeyRow } from '../../../db/schema/gpg-keys.ts'
import { violatedConstraint } from '../../../db/violations.ts'
import { requireRoom } from '../../access/room.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import { type Certificate, type CertifiedKey, readCertificate } from '../../signatures/openpgp/certificate.ts'
import { readKeptKey } from '../../signatures/openpgp/detached.ts'
import { PacketFault } from '../../signatures/openpgp/reader.ts'
import { isProof } from './proof.ts'
import type { CreateGPGKeyOption, VerifyGPGKeyOption } from './schema.ts'
import {
  countPrimaryKeys,
  findPrimaryKey,
  findPrimaryKeyByKeyId,
  insertGpgKeys,
  listConfirmedAddresses,
  listSubkeys,
  markVerified,
  removeGpgKey,
} from './store.ts'
import { acceptedTexts, gpgKeyToken } from './token.ts'

/**
 * Adds a key with its subkeys. It has to bear a confirmed address of the caller, or come with a signature over the token.
 * @throws Refusal 404 for neither of both (Wire: so the family answers), 422 for a key that cannot be taken and for one that is known on
 * the site
 */
export async function addGpgKey(context: Context, actor: Actor, option: CreateGPGKeyOption): Promise<GpgKeyRow> {
  const { db } = context
  const certificate = parse(context, option.armored_public_key)
  const isVerified = await requireOwnership(context, actor, { certificate, armored: option.armored_signature })
  const { primary, subkeys, emails } = certificate
  try {
    return await db.transaction(async (tx) => {
      const values = { ...valuesOf(primary, actor), certificate: certificate.bytes, emails, isVerified }
      const [row] = await insertGpgKeys(tx, [values])
      if (row === undefined) throw new Error('insert returned no row')
      await insertGpgKeys(
        tx,
        subkeys.map((subkey) => ({ ...valuesOf(subkey, actor), primaryId: row.id })),
      )
      requireRoom(context.config, await countPrimaryKeys(tx, actor.user.id), 'keys')
      await recordAudit(tx, actor, { action: 'gpg_key.create', subject: subjectOf(row), after: factsOf(row, actor) })
      return row
    })
  } catch (error) {
    if (violatedConstraint(error) !== 'gpg_keys_key_id_key') throw error
    throw invalid('A key with the same id already exists')
  }
}

function parse({ clock }: Context, armored: string): Certificate {
  try {
    return readCertificate(armored, clock.now())
  } catch (error) {
    if (error instanceof PacketFault) throw invalid(`Invalid key content: it ${error.message}`, 'armored_public_key')
    throw error
  }
}

/** Returns whether the caller has proved to hold the key. @throws Refusal 404 */
async function requireOwnership(
  context: Context,
  { user }: Actor,
  { certificate, armored = '' }: { certificate: Certificate; armored: string | undefined },
): Promise<boolean> {
  if (armored !== '') {
    const texts = acceptedTexts(context, user)
    if (isProof(context, [certificate.primary, ...certificate.subkeys], { armored, texts })) return true
    throw notFound(mismatch(gpgKeyToken(context, user)))
  }
  const confirmed = await listConfirmedAddresses(context.db, user.id)
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
  if (!row) throw notFound()
  const keys = [row, ...(await listSubkeys(db, [row.id]))].map((kept) => ({ ...kept, key: readKeptKey(kept.packet) }))
  const texts = acceptedTexts(context, actor.user)
  if (!isProof(context, keys, { armored: option.armored_signature, texts }))
    throw invalid(mismatch(gpgKeyToken(context, actor.user)))
  if (row.isVerified) return row
  await db.transaction(async (tx) => {
    await markVerified(tx, row.id)
    await recordAudit(tx, actor, {
      action: 'gpg_key.verify',
      subject: subjectOf(row),
      before: { verified: false },
      after: { verified: true },
    })
  })
  return { ...row, isVerified: true }
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
    await recordAudit(tx, actor, { action: 'gpg_key.delete', subject: subjectOf(row), before: factsOf(row, actor) })
  })
}

function valuesOf({ key, createdAt, ...rest }: CertifiedKey, { user }: Actor) {
  return {
    ...rest,
    userId: user.id,
    keyId: key.keyId,
    fingerprint: key.fingerprint,
    packet: key.packet,
    madeAt: createdAt,
  }
}

const subjectOf = (row: GpgKeyRow) => ({ kind: 'gpg_key', id: row.id, name: row.keyId })

const factsOf = ({ fingerprint, emails, isVerified }: GpgKeyRow, { user }: Actor) => ({
  fingerprint,
  emails,
  verified: isVerified,
  owner: user.name,
})
