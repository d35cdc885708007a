import { and, eq } from 'drizzle-orm'
import { type UserRow, users } from '../../db/schema/users.ts'
import type { Context } from '../context.ts'
import { sha256Hex } from '../kernel/hashing.ts'
import { isConnected } from './connection.ts'

/** Longest time between the first and the second factor. */
export const PENDING_SECONDS = 600

const PURPOSE = 'pending sign-in'

export interface PendingSignIn {
  user: UserRow
  isRemembered: boolean
  /** The connection with a source that was the first factor; undefined for the password. */
  identityId?: number | undefined
}

/**
 * What the browser keeps while the second factor is asked for. It is no session and opens nothing: it says that the password was right, or
 * that a source has signed the person in, to this instance alone, and for as long as that is the password and that connection stands.
 */
export function sealPending(
  { secrets, clock }: Context,
  { user, isRemembered, identityId = 0 }: PendingSignIn,
): string {
  const until = Math.floor(clock.now().getTime() / 1000) + PENDING_SECONDS
  const parts = [user.id, until, isRemembered ? 1 : 0, identityId, passwordMark(user)]
  return Buffer.from(secrets.seal(PURPOSE, parts.join(' '))).toString('base64url')
}

/** Undefined when it is too old, was made elsewhere, the account has got another password, lost the connection or was closed, or the source was switched off. */
export async function openPending(context: Context, sealed: string | undefined): Promise<PendingSignIn | undefined> {
  const text = sealed && context.secrets.tryOpen(PURPOSE, Buffer.from(sealed, 'base64url'))
  const [, id, until, remembered, identityId, mark] = /^(\d+) (\d+) ([01]) (\d+) ([0-9a-f]{64})$/.exec(text ?? '') ?? []
  if (Number(until ?? 0) * 1000 <= context.clock.now().getTime()) return undefined
  const isPerson = and(eq(users.id, Number(id)), eq(users.kind, 'user'))
  const [user] = await context.db.select().from(users).where(isPerson)
  if (!user || passwordMark(user) !== mark || !user.isActive || user.prohibitLogin) return undefined
  const connection = Number(identityId) || undefined
  if (connection !== undefined && !(await isConnected(context.db, user.id, connection))) return undefined
  return { user, isRemembered: remembered === '1', identityId: connection }
}

const passwordMark = ({ passwordHash }: UserRow): string => sha256Hex(passwordHash)
