import type { SQL } from 'drizzle-orm'
import { visibleAccounts } from '../access/visible-accounts.ts'
import type { Actor } from '../auth/actor.ts'
import type { Context } from '../context.ts'
import { KeyFault } from '../kernel/ssh-blob.ts'
import type { Verdict } from '../wire/payload-commit.ts'
import { readNoreplyAddress } from '../wire/user.ts'
import { isContentSignedBy, readDetachedSignature, readKeptKey } from './openpgp/detached.ts'
import { PacketFault } from './openpgp/reader.ts'
import { issuerKeyId, type Signature } from './openpgp/signature.ts'
import { remembered } from './results.ts'
import { isSshSignature, readSshSignature, type SshSignature } from './ssh/signature.ts'
import { findAddressOwners, findGpgKeys, findSshKeyOwners, type KnownGpgKey, type Owner } from './store.ts'

/** A commit or a tag. */
export interface Signed {
  signature?: { text: string; payload: string; rawPayload?: string }
  /** The address of who made it. */
  email: string
}

type Read = { kind: 'gpg'; signature: Signature } | { kind: 'ssh'; signature: SshSignature } | { kind: 'broken' }

/**
 * Verdicts on signatures, in the order of what is signed; undefined where there is none. One statement for each kind of key and one
 * for the addresses, whatever the number; without signatures none.
 *
 * Verified means: signed by a key of an account that the reader may know of, and the address of who made it is a confirmed one of
 * that account; or signed by the instance, which has made it.
 */
export async function verifySignatures(
  context: Context,
  actor: Actor | undefined,
  all: readonly Signed[],
): Promise<readonly (Verdict | undefined)[]> {
  const read = all.map(({ signature }) => signature && readSignatureText(signature.text))
  if (read.every((signature) => signature === undefined)) return []
  const known = await findKnown(context, visibleAccounts(context.config, actor), { all, read })
  return all.map((signed, index) => {
    const signature = read[index]
    return signature && judge(context, known, { signed, read: signature })
  })
}

function readSignatureText(text: string): Read {
  try {
    if (isSshSignature(text)) return { kind: 'ssh', signature: readSshSignature(text) }
    return { kind: 'gpg', signature: readDetachedSignature(text) }
  } catch (error) {
    if (error instanceof PacketFault || error instanceof KeyFault) return { kind: 'broken' }
    throw error
  }
}

/** What the verdicts on one list depend on. */
interface Known {
  gpgKeys: ReadonlyMap<string, KnownGpgKey>
  sshKeyOwners: ReadonlyMap<string, Owner>
  addressOwners: ReadonlyMap<string, number>
}

async function findKnown(
  { db, signing }: Context,
  isVisible: SQL,
  { all, read }: { all: readonly Signed[]; read: readonly (Read | undefined)[] },
): Promise<Known> {
  const keyIds = read.map((found) => (found?.kind === 'gpg' ? issuerKeyId(found.signature) : undefined))
  const fingerprints = read.map((found) => (found?.kind === 'ssh' ? found.signature.fingerprint : undefined))
  const addresses = all.flatMap(({ email }, index) => (read[index] ? [email.toLowerCase()] : []))
  const [keys, sshKeyOwners, addressOwners] = await Promise.all([
    findGpgKeys(db, distinct(keyIds), isVisible),
    findSshKeyOwners(
      db,
      distinct(fingerprints).filter((fingerprint) => !signing.isOwn(fingerprint)),
      isVisible,
    ),
    findAddressOwners(db, distinct(addresses)),
  ])
  return { gpgKeys: new Map(keys.map((key) => [key.keyId, key])), sshKeyOwners, addressOwners }
}

const distinct = (values: readonly (string | undefined)[]): string[] => [
  ...new Set(values.filter((value) => value !== undefined)),
]

function judge(context: Context, known: Known, { signed, read }: { signed: Signed; read: Read }): Verdict {
  if (read.kind === 'broken') return refused('extract_sign')
  const content = contentOf(signed)
  return read.kind === 'ssh'
    ? judgeSsh(context, known, { signed, signature: read.signature, content })
    : judgeGpg(context, known, { signed, signature: read.signature, content })
}

interface Case<Kind> {
  signed: Signed
  signature: Kind
  content: Uint8Array
}

function judgeSsh(
  { signing, config }: Context,
  known: Known,
  { signed, signature, content }: Case<SshSignature>,
): Verdict {
  const { fingerprint } = signature
  const isRight = () => remembered([textOf(signed), content], () => signature.isOver(content))
  if (signing.isOwn(fingerprint)) {
    if (!isRight()) return refused('probable_bad_default_signature')
    const { name, email } = signing
    return { isVerified: true, reason: `${name} / ${fingerprint}`, signer: { name, email, username: '' } }
  }
  const owner = known.sshKeyOwners.get(fingerprint)
  if (!owner) return refused('no_gpg_keys_found')
  if (!isRight()) return refused('probable_bad_signature')
  return accepted(
    { owner, keyName: fingerprint, email: signed.email },
    isAddressOf(owner, signed.email, { known, config }),
  )
}

function judgeGpg({ clock, config }: Context, known: Known, { signed, signature, content }: Case<Signature>): Verdict {
  const found = known.gpgKeys.get(issuerKeyId(signature) ?? '')
  if (!found) return refused('no_gpg_keys_found')
  const { owner, keyId, packet, expiresAt } = found
  const verify = () =>
    isContentSignedBy({ key: readKeptKey(packet), expiresAt }, signature, { content, now: clock.now() })
  const facts = [packet, String(expiresAt?.getTime()), textOf(signed), content]
  // The rare signature with an end of its own is looked at again each time.
  const isRight = signature.expiresAfter ? verify() : remembered(facts, verify)
  if (!found.canSign || !isRight) return refused('probable_bad_signature')
  return accepted({ owner, keyName: keyId, email: signed.email }, isAddressOf(owner, signed.email, { known, config }))
}

/** Wire: the words are those of the family's texts. */
function refused(
  word:
    | 'extract_sign'
    | 'no_gpg_keys_found'
    | 'probable_bad_signature'
    | 'probable_bad_default_signature'
    | 'no_committer_account',
): Verdict {
  return { isVerified: false, reason: `gpg.error.${word}`, signer: null }
}

/** The signer is told under the address in the commit, which is no secret; the account's own may be. */
function accepted(by: { owner: Owner; keyName: string; email: string }, isOwnAddress: boolean): Verdict {
  if (!isOwnAddress) return refused('no_committer_account')
  const { name } = by.owner
  return { isVerified: true, reason: `${name} / ${by.keyName}`, signer: { name, email: by.email, username: name } }
}

function isAddressOf(
  owner: Owner,
  email: string,
  { known, config }: { known: Known; config: Context['config'] },
): boolean {
  const address = email.toLowerCase()
  if (known.addressOwners.get(address) === owner.id) return true
  const standIn = readNoreplyAddress(address, config.noreplyDomain)
  if (!standIn) return false
  return standIn.id === undefined ? standIn.name === owner.name.toLowerCase() : standIn.id === owner.id
}

const textOf = ({ signature }: Signed): string => signature?.text ?? ''

/** The very bytes that were signed. */
function contentOf({ signature }: Signed): Uint8Array {
  if (signature?.rawPayload !== undefined) return Buffer.from(signature.rawPayload, 'latin1')
  return Buffer.from(signature?.payload ?? '')
}
