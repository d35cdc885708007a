import type { UserRow } from '../../../db/schema/users.ts'
import type { Context } from '../../context.ts'

/** One for each of these spans; the one before counts too, so that there is time to sign. */
const SPAN_MS = 5 * 60_000

/**
 * What the holder of a key signs to prove it. Nothing is stored: it is derived from the account, the time and the instance's secret, so
 * that a signature proves nothing for another account, at another time or elsewhere.
 */
export const gpgKeyToken = (context: Context, user: UserRow): string => tokensOf(context, user, 0)[0]

/** Those that count now, in the ways in which programs end a line. */
export function acceptedTexts(context: Context, user: UserRow): Uint8Array[] {
  const tokens = [...tokensOf(context, user, 0), ...tokensOf(context, user, 1)]
  return tokens.flatMap((token) => ['', '\n', '\r\n'].map((end) => Buffer.from(token + end)))
}

/** The first is made with the present key. */
function tokensOf({ clock, secrets }: Context, user: UserRow, spansAgo: number): [string, ...string[]] {
  const span = Math.floor(clock.now().getTime() / SPAN_MS) - spansAgo
  const [ours, ...others] = secrets.signatures('gpg-key-token', `${user.id} ${span}`)
  return [textOf(ours), ...others.map(textOf)]
}

const textOf = (signature: Uint8Array): string => Buffer.from(signature).toString('hex')
