import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { acceptedTexts } from './token.ts'

/** Whether an armored signature over the caller's token was made with this key or with a subkey of it that signs. */
export function isProof(
  context: Context,
  { user }: Actor,
  { certificate, armored }: { certificate: Uint8Array; armored: string },
): Promise<boolean> {
  const contents = acceptedTexts(context, user)
  return context.openPgp.isSignedBy(certificate, { armored, contents, now: context.clock.now() })
}
