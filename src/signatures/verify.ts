import type { SQL } from 'drizzle-orm'
import { visibleAccounts } from '../access/visible-accounts.ts'
import type { Actor } from '../auth/actor.ts'
import type { Context } from '../context.ts'
import { SshKeyError } from '../kernel/ssh-blob.ts'
import type { Verdict } from '../wire/payload-commit.ts'
import { type AddressOwners, isAddressOf } from './addresses.ts'
import { isSshSignature, readSshSignature, type SshSignature } from './ssh/signature.ts'
import { findAddressOwners, findGpgKeys, findSshKeyOwners, type KnownGpgKey, type Owner } from './store.ts'

/** A commit or a tag. */
export interface Signed {
  signature?: { text: string; payload: string; rawPayload?: string; isAmbiguous?: boolean }
  /** The address of who made it. */
  email: string
}

type Read =
  | { kind: 'gpg'; armored: string; keyId: string }
  | { kind: 'ssh'; signature: SshSignature }
  | { kind: 'broken' }

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
  const read = await Promise.all(all.map(({ signature }) => signature && readSignature(context, signature)))
  if (read.every((signature) => signature === undefined)) return []
  const known = await findKnown(context, visibleAccounts(context.config, actor), { all, read })
  const judged = all.map((signed, index) => {
    const signature = read[index]
    return signature && judge(context, known, { signed, read: signature })
  })
  return Promise.all(judged)
}

async function readSignature(
  { openPgp }: Context,
  { text, isAmbiguous }: NonNullable<Signed['signature']>,
): Promise<Read> {
  if (isAmbiguous || !isOneBlock(text)) return { kind: 'broken' }
  if (isSshSignature(text)) return readSsh(text)
  const keyId = await openPgp.issuerOf(text)
  return keyId === undefined ? { kind: 'broken' } : { kind: 'gpg', armored: text, keyId }
}

function readSsh(text: string): Read {
  try {
    return { kind: 'ssh', signature: readSshSignature(text) }
  } catch (error) {
    if (error instanceof SshKeyError) return { kind: 'broken' }
    throw error
  }
}

const BLOCK = /^-----BEGIN (PGP|SSH) SIGNATURE-----\n.*\n-----END \1 SIGNATURE-----\s*$/s

/** Whether the text is one armored signature and nothing else: programs differ in which of two they take. */
const isOneBlock = (text: string): boolean => BLOCK.test(text) && text.lastIndexOf('-----BEGIN ') === 0

/** What the verdicts on one list depend on. */
interface Known {
  gpgKeys: ReadonlyMap<string, KnownGpgKey>
  sshKeyOwners: ReadonlyMap<string, Owner>
  addressOwners: AddressOwners
}

async function findKnown(
  { db, signing }: Context,
  isVisible: SQL,
  { all, read }: { all: readonly Signed[]; read: readonly (Read | undefined)[] },
): Promise<Known> {
  const keyIds = read.map((found) => (found?.kind === 'gpg' ? found.keyId : undefined))
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

async function judge(
  context: Context,
  known: Known,
  { signed, read }: { signed: Signed; read: Read },
): Promise<Verdict> {
  if (read.kind === 'broken') return refused('extract_sign')
  const content = contentOf(signed)
  return read.kind === 'ssh'
    ? judgeSsh(context, known, { signed, signature: read.signature, content })
    : judgeGpg(context, known, { signed, signature: read, content })
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
  if (signing.isOwn(fingerprint)) {
    if (!signature.isOver(content)) return refused('probable_bad_default_signature')
    const { name, email } = signing
    return { isVerified: true, reason: `${name} / ${fingerprint}`, signer: { name, email, username: '' } }
  }
  const owner = known.sshKeyOwners.get(fingerprint)
  if (!owner) return refused('no_gpg_keys_found')
  if (!signature.isOver(content)) return refused('probable_bad_signature')
  const isOwn = isAddressOf(owner, signed.email, { owners: known.addressOwners, config })
  return accepted({ owner, keyName: fingerprint, email: signed.email }, isOwn)
}

async function judgeGpg(
  { clock, config, openPgp }: Context,
  known: Known,
  { signed, signature: { armored, keyId }, content }: Case<{ armored: string; keyId: string }>,
): Promise<Verdict> {
  const found = known.gpgKeys.get(keyId)
  if (!found) return refused('no_gpg_keys_found')
  const { owner, certificate, canSign } = found
  const signing = { armored, contents: [content], now: clock.now() }
  if (!canSign || !certificate || !(await openPgp.isSignedBy(certificate, signing)))
    return refused('probable_bad_signature')
  const isOwn = isAddressOf(owner, signed.email, { owners: known.addressOwners, config })
  return accepted({ owner, keyName: keyId, email: signed.email }, isOwn)
}

/** Wire: the words are keys of Gitea's texts. */
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

/** Names the signer by the address in the commit, which everybody can read. The account's own may be hidden. */
function accepted(by: { owner: Owner; keyName: string; email: string }, isOwnAddress: boolean): Verdict {
  if (!isOwnAddress) return refused('no_committer_account')
  const { name } = by.owner
  return { isVerified: true, reason: `${name} / ${by.keyName}`, signer: { name, email: by.email, username: name } }
}

/** The very bytes that were signed. */
function contentOf({ signature }: Signed): Uint8Array {
  if (signature?.rawPayload !== undefined) return Buffer.from(signature.rawPayload, 'latin1')
  return Buffer.from(signature?.payload ?? '')
}
