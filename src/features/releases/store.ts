import { and, desc, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { rowVersion } from '../../../db/row-version.ts'
import type { AttachmentRow } from '../../../db/schema/attachments.ts'
import { refs } from '../../../db/schema/refs.ts'
import { type ReleaseRow, releases } from '../../../db/schema/releases.ts'
import { type UserRow, users } from '../../../db/schema/users.ts'
import { numberedPage, type Page, type Paged } from '../../kernel/page.ts'
import { listByParent } from '../attachments/store.ts'

export interface LoadedRelease {
  release: ReleaseRow
  author: UserRow | undefined
  assets: readonly AttachmentRow[]
  /** Changes with the rows that the release is shown from. */
  version: string
}

export interface ReleaseFilter {
  repositoryId: number
  isDraft?: boolean | undefined
  isPrerelease?: boolean | undefined
  tagName?: string
  id?: number
}

const matching = ({ repositoryId, isDraft, isPrerelease, tagName, id }: ReleaseFilter) =>
  and(
    eq(releases.repositoryId, repositoryId),
    isDraft === undefined ? undefined : eq(releases.isDraft, isDraft),
    isPrerelease === undefined ? undefined : eq(releases.isPrerelease, isPrerelease),
    tagName === undefined ? undefined : eq(releases.tagName, tagName),
    id === undefined ? undefined : eq(releases.id, id),
  )

const since = sql`coalesce(${releases.publishedAt}, ${releases.createdAt})`

/** The newest first. */
async function select(db: Db, filter: ReleaseFilter, page: Pick<Page, 'limit' | 'offset'>): Promise<LoadedRelease[]> {
  const rows = await db
    .select({
      release: releases,
      author: users,
      version: sql<string>`${rowVersion(releases)} || coalesce(${rowVersion(users)}, '')`,
    })
    .from(releases)
    .leftJoin(users, eq(users.id, releases.authorId))
    .where(matching(filter))
    .orderBy(desc(since), desc(releases.id))
    .limit(page.limit)
    .offset(page.offset)
  const assets = await listByParent(
    db,
    'releaseId',
    rows.map(({ release }) => release.id),
  )
  return rows.map(({ release, author, version }) => {
    const own = assets.get(release.id) ?? []
    return {
      release,
      author: author ?? undefined,
      assets: own.map(({ attachment }) => attachment),
      version: [version, ...own.map((asset) => asset.version)].join(),
    }
  })
}

export async function listReleases(db: Db, filter: ReleaseFilter, page: Page): Promise<Paged<LoadedRelease>> {
  const [rows, total] = await Promise.all([select(db, filter, page), db.$count(releases, matching(filter))])
  return numberedPage(page, { rows, total })
}

/** The newest that fits. */
export async function findRelease(db: Db, filter: ReleaseFilter): Promise<LoadedRelease | undefined> {
  const [found] = await select(db, filter, { limit: 1, offset: 0 })
  return found
}

export async function insertRelease(tx: Db, release: typeof releases.$inferInsert): Promise<ReleaseRow> {
  const [row] = await tx.insert(releases).values(release).returning()
  if (!row) throw new Error('insert returned no row')
  return row
}

interface Place {
  repositoryId: number
  id: number
}

const at = ({ repositoryId, id }: Place) => and(eq(releases.repositoryId, repositoryId), eq(releases.id, id))

/** Until the end of the transaction nobody else changes it. */
export async function lockRelease(tx: Db, place: Place): Promise<ReleaseRow | undefined> {
  const [row] = await tx.select().from(releases).where(at(place)).for('update')
  return row
}

export async function updateRelease(
  tx: Db,
  place: Place,
  change: Partial<ReleaseRow>,
): Promise<ReleaseRow | undefined> {
  const [row] = await tx
    .update(releases)
    .set({ ...change, updatedAt: sql`now()` })
    .where(at(place))
    .returning()
  return row
}

export async function removeRelease(tx: Db, place: Place): Promise<ReleaseRow | undefined> {
  const [row] = await tx.delete(releases).where(at(place)).returning()
  return row
}

/** Whether a tag is there; until the end of the transaction it does not go unnoticed. */
export async function holdTag(tx: Db, repositoryId: number, name: string): Promise<boolean> {
  const isTag = and(eq(refs.repositoryId, repositoryId), eq(refs.kind, 'tag'), eq(refs.name, name))
  const rows = await tx.select({ name: refs.name }).from(refs).where(isTag).for('key share')
  return rows.length > 0
}
