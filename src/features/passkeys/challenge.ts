import { randomBytes } from 'node:crypto'
import type { Context } from '../../context.ts'
import { constantTimeEqual } from '../../kernel/hashing.ts'

type ChallengeContext = Pick<Context, 'secrets' | 'clock'>

/** Time to find the device, and the finger. */
const CHALLENGE_SECONDS = 600
const RANDOM_BYTES = 16
const MAC_BYTES = 16

/** What a challenge is for: to sign in, or to add a passkey in one session. */
export type ChallengePurpose = 'sign-in' | `session ${string}`

/**
 * What a device signs (WebAuthn, 13.4.3): random bytes, and when they expire. Nothing is stored before it comes back, so that whoever asks for
 * the sign-in page writes nothing; a signature proves which are ours.
 */
export function makeChallenge(context: ChallengeContext, purpose: ChallengePurpose): string {
  const expires = Math.floor(context.clock.now().getTime() / 1000) + CHALLENGE_SECONDS
  const body = Buffer.alloc(4 + RANDOM_BYTES)
  body.writeUInt32BE(expires)
  randomBytes(RANDOM_BYTES).copy(body, 4)
  return Buffer.concat([body, macsOf(context, purpose, body)[0]]).toString('base64url')
}

/** When a challenge of ours expires; undefined for any other, and for one that has expired. */
export function expiryOf(context: ChallengeContext, purpose: ChallengePurpose, challenge: string): Date | undefined {
  const bytes = Buffer.from(challenge, 'base64url')
  if (bytes.length !== 4 + RANDOM_BYTES + MAC_BYTES) return undefined
  const body = bytes.subarray(0, 4 + RANDOM_BYTES)
  const mac = bytes.subarray(4 + RANDOM_BYTES).toString('hex')
  if (!macsOf(context, purpose, body).some((ours) => constantTimeEqual(mac, ours.toString('hex')))) return undefined
  const expiresAt = new Date(body.readUInt32BE() * 1000)
  return expiresAt > context.clock.now() ? expiresAt : undefined
}

/** The first is the one for a new challenge. */
function macsOf({ secrets }: ChallengeContext, purpose: ChallengePurpose, body: Buffer): [Buffer, ...Buffer[]] {
  const shorten = (signature: Uint8Array) => Buffer.from(signature).subarray(0, MAC_BYTES)
  const [ours, ...others] = secrets.signatures('passkey challenge', `${purpose} ${body.toString('hex')}`)
  return [shorten(ours), ...others.map(shorten)]
}
