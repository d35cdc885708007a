import type { Component } from './components.ts'
import { uint32 } from './packets.ts'
import { type PublicKey, readPublicKey } from './public-key.ts'
import { PacketFault } from './reader.ts'
import { claimsToBeBy, isMadeBy, readSignature, type Signature, SignatureType } from './signature.ts'

/** Looks at what a key has signed of itself. */
export interface SelfSignatures {
  /** The newest right and living one of these types over a component; revocations count at all times. */
  newest(component: Component, types: readonly number[]): Signature | undefined
  isRevoked(component: Component): boolean
  /** Whether a subkey has signed its primary key, in the signature that binds it. */
  isConsented(component: Component, subkey: PublicKey, binding: Signature): boolean
}

/** Far more than any key has: a text made to cost time is refused. */
const MAX_VERIFICATIONS = 200
/** Clocks differ. */
const TOLERANCE_SECONDS = 24 * 60 * 60

/** @throws PacketFault, by the functions too, when there is too much to verify */
export function selfSignaturesOf(primary: PublicKey, now: Date): SelfSignatures {
  const latest = now.getTime() / 1000 + TOLERANCE_SECONDS
  let verifications = 0
  const isRight = (key: PublicKey, signature: Signature, parts: readonly Uint8Array[]): boolean => {
    verifications += 1
    if (verifications > MAX_VERIFICATIONS) throw new PacketFault('has too many signatures of its own')
    return isMadeBy(key, signature, parts)
  }
  const newest = (component: Component, types: readonly number[]): Signature | undefined =>
    component.signatures
      .filter((signature) => types.includes(signature.type) && claimsToBeBy(signature, primary))
      .filter((signature) => isRevocation(signature) || (signature.createdAt <= latest && !isOver(signature, now)))
      .toSorted((a, b) => b.createdAt - a.createdAt)
      .find((signature) => isRight(primary, signature, signedParts(primary, component, signature.type)))
  return {
    newest,
    isRevoked: (component) => newest(component, [SignatureType.keyRevocation]) !== undefined,
    isConsented(component, subkey, binding) {
      const parts = signedParts(primary, component, SignatureType.primaryKeyBinding)
      return binding.embedded
        .flatMap(readable)
        .some((signature) => signature.type === SignatureType.primaryKeyBinding && isRight(subkey, signature, parts))
    },
  }
}

const revocations: readonly number[] = [
  SignatureType.keyRevocation,
  SignatureType.subkeyRevocation,
  SignatureType.certificationRevocation,
]

const isRevocation = ({ type }: Signature): boolean => revocations.includes(type)

const isOver = ({ createdAt, expiresAfter = 0 }: Signature, now: Date): boolean =>
  expiresAfter !== 0 && (createdAt + expiresAfter) * 1000 <= now.getTime()

/** What such a signature is made over (RFC 9580, 5.2.4). */
function signedParts(primary: PublicKey, { kind, packet }: Component, type: number): Uint8Array[] {
  if (type === SignatureType.keyRevocation || type === SignatureType.directKey) return [primary.hashed]
  if (kind === 'subkey') return [primary.hashed, readPublicKey(packet).hashed]
  return [primary.hashed, Buffer.of(kind === 'userId' ? 0xb4 : 0xd1), uint32(packet.body.length), packet.body]
}

function readable(body: Uint8Array): Signature[] {
  try {
    return [readSignature(body)]
  } catch (error) {
    if (error instanceof PacketFault) return []
    throw error
  }
}
