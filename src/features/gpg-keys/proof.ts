import type { Context } from '../../context.ts'
import { isContentSignedBy, readDetachedSignature } from '../../signatures/openpgp/detached.ts'
import type { PublicKey } from '../../signatures/openpgp/public-key.ts'
import { PacketFault } from '../../signatures/openpgp/reader.ts'
import { claimsToBeBy } from '../../signatures/openpgp/signature.ts'

export interface ProvingKey {
  key: PublicKey
  expiresAt: Date | null
  canSign: boolean
}

/** Whether an armored signature was made by one of the keys over one of the texts. */
export function isProof(
  { clock }: Context,
  keys: readonly ProvingKey[],
  { armored, texts }: { armored: string; texts: readonly Uint8Array[] },
): boolean {
  const signature = readable(armored)
  const signer = signature && keys.find(({ key, canSign }) => canSign && claimsToBeBy(signature, key))
  if (!signer) return false
  const now = clock.now()
  return texts.some((content) => isContentSignedBy(signer, signature, { content, now }))
}

function readable(armored: string) {
  try {
    return readDetachedSignature(armored)
  } catch (error) {
    if (error instanceof PacketFault) return undefined
    throw error
  }
}
