import { eq, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { repositories, repositoryCounters } from '../../db/schema/repositories.ts'
import { Refusal } from '../kernel/errors.ts'

/** What all repositories of one owner may hold together of a kind of large files. */
export interface ByteQuota {
  /** As people call them. */
  items: string
  setting: string
  /** 0 is no limit. */
  maxBytes: number
  /** Where triggers count those of each repository. */
  counter: 'lfsBytes' | 'attachmentBytes' | 'artifactBytes'
  /** What clients of this kind are refused with. */
  status: 413 | 507
}

interface More {
  repositoryId: number
  /** Bytes. */
  more: number
}

/**
 * Before anything is sent: whether there is room for so many bytes more. Once they are written `requireKeptBytes` judges again, since
 * others send at the same time.
 */
export async function hasRoom(db: Db, quota: ByteQuota, { repositoryId, more }: More): Promise<boolean> {
  if (quota.maxBytes === 0 || more <= 0) return true
  const owner = db.select({ id: repositories.ownerId }).from(repositories).where(eq(repositories.id, repositoryId))
  return (await sumOwned(db, quota, sql`(${owner})`)) + more <= quota.maxBytes
}

/** @throws Refusal with the status of the quota where `hasRoom` says no */
export async function requireRoom(db: Db, quota: ByteQuota, addition: More): Promise<void> {
  if (!(await hasRoom(db, quota, addition))) throw full(quota)
}

/**
 * Ends the transaction that gives a repository more. Called after the rows are written: from here to the end nobody else is asked for the
 * same owner, so that of two at the same instant the second counts the first.
 * @throws Refusal with the status of the quota
 */
export async function requireKeptBytes(tx: Db, quota: ByteQuota, repositoryId: number): Promise<void> {
  if (quota.maxBytes === 0) return
  const [held] = await tx
    .select({
      ownerId: repositories.ownerId,
      lock: sql`pg_advisory_xact_lock(hashtextextended(${`quota of ${quota.items}: `}::text || ${repositories.ownerId}, 0))`,
    })
    .from(repositories)
    .where(eq(repositories.id, repositoryId))
  if (held && (await sumOwned(tx, quota, held.ownerId)) > quota.maxBytes) throw full(quota)
}

/** A content that several repositories have counts in each of them. */
async function sumOwned(db: Db, { counter }: ByteQuota, owner: number | SQL): Promise<number> {
  const [row] = await db
    .select({ bytes: sql<number>`coalesce(sum(${repositoryCounters[counter]}), 0)::bigint`.mapWith(Number) })
    .from(repositories)
    .innerJoin(repositoryCounters, eq(repositoryCounters.repositoryId, repositories.id))
    .where(eq(repositories.ownerId, owner))
  return row?.bytes ?? 0
}

const full = ({ status, items, setting, maxBytes }: ByteQuota) =>
  new Refusal(status, `the owner's repositories may hold ${maxBytes} bytes of ${items} (${setting})`)
