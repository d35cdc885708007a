import { and, desc, eq, gt, lt, ne, sql } from 'drizzle-orm'
import { beyondNewest } from '../../db/beyond-newest.ts'
import { type Db, prepared } from '../../db/client.ts'
import { type SessionRow, type SignInMethod, sessions } from '../../db/schema/sessions.ts'
import { type UserRow, users } from '../../db/schema/users.ts'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import { randomHex, sha256Hex } from '../kernel/hashing.ts'
import { numberedPage, type Page, type Paged } from '../kernel/page.ts'
import type { Actor } from './actor.ts'
import { isConnected } from './connection.ts'
import type { RequestOrigin } from './origin.ts'

const SECRET_BYTES = 32
const SECRET = /^[0-9a-f]{64}$/

/** `last_seen_at` is written at most this often, so that reading does not mean writing. */
const USE_RECORDED_EVERY_MS = 300_000
/** Of one person. The oldest ends when there would be more. */
const MAX_SESSIONS = 100
const MAX_USER_AGENT = 255

/** A session as it was begun or rotated, with what goes into its cookie. */
export interface NewSession {
  /** Given to the browser, and stored nowhere. */
  secret: string
  row: SessionRow
}

export interface SignIn {
  /** As it was read when the person was judged. */
  user: UserRow
  method: SignInMethod
  origin: RequestOrigin
  isRemembered: boolean
  /** When they showed who they are, where that was elsewhere and earlier. */
  authenticatedAt?: Date | undefined
  /** The connection with a source that was the first factor, where it was one. */
  identityId?: number | undefined
  /** The session that the browser had until now: it ends, so that nobody who planted it gets a better one. */
  replaces?: SessionRow | undefined
}

/**
 * Begins a session, and records the sign-in.
 * @returns undefined when the account was closed, or got another password, or lost the connection that opened it, after it was judged
 */
export function createSession(context: Context, signIn: SignIn): Promise<NewSession | undefined> {
  const { user, method, origin, isRemembered, replaces, authenticatedAt, identityId } = signIn
  const now = context.clock.now()
  const expiresAt = new Date(now.getTime() + context.config.sessionMaxSeconds * 1000)
  const secret = randomHex(SECRET_BYTES)
  return context.db.transaction(async (tx) => {
    // The row stays locked: who changes the password next ends this session as well.
    const judged = and(eq(users.id, user.id), eq(users.passwordHash, user.passwordHash))
    const mayEnter = and(judged, eq(users.isActive, true), eq(users.prohibitLogin, false))
    const entered = await tx.update(users).set({ lastLoginAt: now }).where(mayEnter).returning({ id: users.id })
    if (entered.length === 0) return undefined
    // Only now, with the row locked: who takes a connection away locks it too, and ends the sessions that are there.
    if (identityId !== undefined && !(await isConnected(tx, user.id, identityId))) return undefined
    if (replaces) await tx.delete(sessions).where(eq(sessions.id, replaces.id))
    const [row] = await tx
      .insert(sessions)
      .values({
        userId: user.id,
        secretHash: sha256Hex(secret),
        method,
        isRemembered,
        authenticatedAt: authenticatedAt ?? now,
        expiresAt,
        createdAt: now,
        ...sighting(context.config, { isRemembered, expiresAt }, { now, origin }),
      })
      .returning()
    if (row === undefined) throw new Error('insert returned no row')
    const ofUser = eq(sessions.userId, user.id)
    await tx.delete(sessions).where(beyondNewest(tx, sessions.id, { of: ofUser, keep: MAX_SESSIONS }))
    return { secret, row }
  })
}

/** Session and account in one statement, for every request. Nothing of it is cached: what was ended is refused by every replica at once. */
const bySecret = prepared((db) =>
  db
    .select({ session: sessions, user: users })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(
      and(
        eq(sessions.secretHash, sql.placeholder('secretHash')),
        gt(sessions.idleExpiresAt, sql.placeholder('now')),
        gt(sessions.expiresAt, sql.placeholder('now')),
      ),
    )
    .prepare('session_by_secret'),
)

/** The actor of a session; undefined when it was ended, is too old, or never was. */
export async function findSessionActor(
  context: Context,
  secret: string,
  origin: RequestOrigin,
): Promise<(Actor & { session: SessionRow }) | undefined> {
  if (!SECRET.test(secret)) return undefined
  const now = context.clock.now()
  const [found] = await bySecret(context.db).execute({ secretHash: sha256Hex(secret), now })
  if (!found) return undefined
  const { session, user } = found
  await recordUse(context, session, { now, origin })
  return { user, session, method: 'session', publicOnly: false }
}

interface Sighting {
  now: Date
  origin: RequestOrigin
}

async function recordUse({ db, config }: Context, session: SessionRow, seen: Sighting): Promise<void> {
  // A short idle limit is extended in time.
  const everyMs = Math.min(USE_RECORDED_EVERY_MS, (config.sessionIdleSeconds * 1000) / 4)
  const due = new Date(seen.now.getTime() - everyMs)
  if (session.lastSeenAt > due) return
  // Of requests at the same time one writes.
  await db
    .update(sessions)
    .set(sighting(config, session, seen))
    .where(and(eq(sessions.id, session.id), eq(sessions.lastSeenAt, session.lastSeenAt)))
}

function sighting(
  { sessionIdleSeconds }: Pick<Config, 'sessionIdleSeconds'>,
  { isRemembered, expiresAt }: Pick<SessionRow, 'isRemembered' | 'expiresAt'>,
  { now, origin }: Sighting,
) {
  const idle = new Date(now.getTime() + sessionIdleSeconds * 1000)
  return {
    lastSeenAt: now,
    address: origin.address ?? '',
    userAgent: (origin.userAgent ?? '').slice(0, MAX_USER_AGENT),
    idleExpiresAt: isRemembered || idle > expiresAt ? expiresAt : idle,
  }
}

/**
 * Gives a session another secret, after every rise of what it may do. The old one is refused from then on.
 * @returns undefined when it was ended or rotated meanwhile
 */
export async function rotateSession(
  { db, clock }: Context,
  session: SessionRow,
  proved?: SignInMethod,
): Promise<NewSession | undefined> {
  const secret = randomHex(SECRET_BYTES)
  const [row] = await db
    .update(sessions)
    .set({
      secretHash: sha256Hex(secret),
      ...(proved === undefined ? {} : { method: proved, authenticatedAt: clock.now() }),
    })
    .where(and(eq(sessions.id, session.id), eq(sessions.secretHash, session.secretHash)))
    .returning()
  return row && { secret, row }
}

/** A sign-in of the last hour: older ones may have been left open in a browser that somebody else has found. */
export const RECENT_SECONDS = 3600

export function isRecentSignIn(
  { clock }: Pick<Context, 'clock'>,
  { authenticatedAt }: SessionRow,
  seconds = RECENT_SECONDS,
): boolean {
  return clock.now().getTime() - authenticatedAt.getTime() <= seconds * 1000
}

/** The sessions of a person that are alive, the one seen last first. */
export async function listSessions(
  { db, clock }: Pick<Context, 'db' | 'clock'>,
  userId: number,
  page: Page,
): Promise<Paged<SessionRow>> {
  const alive = and(eq(sessions.userId, userId), gt(sessions.idleExpiresAt, clock.now()))
  const lastSeenFirst = db.select().from(sessions).where(alive).orderBy(desc(sessions.lastSeenAt), desc(sessions.id))
  const [rows, total] = await Promise.all([
    lastSeenFirst.limit(page.limit).offset(page.offset),
    db.$count(sessions, alive),
  ])
  return numberedPage(page, { rows, total })
}

/** Ends one session of a person; false when they have no such session. */
export async function endSession(db: Db, { userId, id }: Pick<SessionRow, 'userId' | 'id'>): Promise<boolean> {
  const gone = await db
    .delete(sessions)
    .where(and(eq(sessions.userId, userId), eq(sessions.id, id)))
    .returning({ id: sessions.id })
  return gone.length > 0
}

/** Ends all sessions of a person except one. */
export async function endSessions(db: Db, userId: number, kept?: SessionRow): Promise<void> {
  const others = kept === undefined ? undefined : ne(sessions.id, kept.id)
  await db.delete(sessions).where(and(eq(sessions.userId, userId), others))
}

export async function deleteExpiredSessions({ db, clock }: Pick<Context, 'db' | 'clock'>): Promise<void> {
  await db.delete(sessions).where(lt(sessions.idleExpiresAt, clock.now()))
}
