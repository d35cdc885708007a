import { and, eq, gt, isNotNull, isNull, lt, lte, sql } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import {
  type OAuthApplicationRow,
  type OAuthDeviceCodeRow,
  oauthApplications,
  oauthDeviceCodes,
} from '../../db/schema/oauth.ts'
import type { Context } from '../context.ts'

/** @returns false where the user code is in use */
export async function insertDevice(db: Db, device: typeof oauthDeviceCodes.$inferInsert): Promise<boolean> {
  const made = await db
    .insert(oauthDeviceCodes)
    .values(device)
    .onConflictDoNothing({ target: oauthDeviceCodes.userCode })
    .returning({ id: oauthDeviceCodes.id })
  return made.length > 0
}

/** A device that waits for an answer, and the application on it. */
export interface WaitingDevice {
  device: OAuthDeviceCodeRow
  application: OAuthApplicationRow
}

/** @param tx with a transaction the row is locked, so that it is answered once */
export async function findWaiting(
  db: Db,
  userCode: string,
  { now, isLocked = false }: { now: Date; isLocked?: boolean },
): Promise<WaitingDevice | undefined> {
  const waiting = db
    .select({ device: oauthDeviceCodes, application: oauthApplications })
    .from(oauthDeviceCodes)
    .innerJoin(oauthApplications, eq(oauthApplications.id, oauthDeviceCodes.applicationId))
    .where(
      and(
        eq(oauthDeviceCodes.userCode, userCode),
        gt(oauthDeviceCodes.expiresAt, now),
        isNull(oauthDeviceCodes.deniedAt),
        isNull(oauthDeviceCodes.authorizationId),
      ),
    )
  const [found] = await (isLocked ? waiting.for('update', { of: oauthDeviceCodes }) : waiting)
  return found
}

export async function answerDevice(
  db: Db,
  id: number,
  answer: { deniedAt: Date } | { authorizationId: number },
): Promise<void> {
  await db.update(oauthDeviceCodes).set(answer).where(eq(oauthDeviceCodes.id, id))
}

export async function findDevice(db: Db, deviceCodeHash: string): Promise<OAuthDeviceCodeRow | undefined> {
  const [row] = await db.select().from(oauthDeviceCodes).where(eq(oauthDeviceCodes.deviceCodeHash, deviceCodeHash))
  return row
}

/** Takes note that a device asks. @returns whether it waited long enough; of several requests at once one has */
export async function notePoll(db: Db, { id, intervalSeconds }: OAuthDeviceCodeRow, now: Date): Promise<boolean> {
  const next = new Date(now.getTime() + intervalSeconds * 1000)
  const inTime = await db
    .update(oauthDeviceCodes)
    .set({ nextPollAt: next })
    .where(and(eq(oauthDeviceCodes.id, id), lte(oauthDeviceCodes.nextPollAt, now)))
    .returning({ id: oauthDeviceCodes.id })
  return inTime.length > 0
}

/** RFC 8628, 3.5: five seconds more. The device does not know how long the pause is, so it has an upper limit. */
export async function slowDown(db: Db, id: number): Promise<void> {
  await db
    .update(oauthDeviceCodes)
    .set({ intervalSeconds: sql`least(${oauthDeviceCodes.intervalSeconds} + 5, 60)` })
    .where(eq(oauthDeviceCodes.id, id))
}

/** Takes the answer of a device that was allowed, once. @returns its authorization */
export async function takeAnswer(db: Db, id: number): Promise<number | undefined> {
  const [gone] = await db
    .delete(oauthDeviceCodes)
    .where(and(eq(oauthDeviceCodes.id, id), isNotNull(oauthDeviceCodes.authorizationId)))
    .returning({ authorizationId: oauthDeviceCodes.authorizationId })
  return gone?.authorizationId ?? undefined
}

/** A device that comes too late is answered so for as long. */
const KEPT_MS = 3_600_000

export async function removeOldDevices({ db, clock }: Context): Promise<number> {
  const before = new Date(clock.now().getTime() - KEPT_MS)
  const gone = await db.delete(oauthDeviceCodes).where(lt(oauthDeviceCodes.expiresAt, before))
  return gone.count
}
