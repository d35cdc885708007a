import { and, asc, desc, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { type RefRow, refs } from '../../../db/schema/refs.ts'
import { releases } from '../../../db/schema/releases.ts'
import { numberedPage, type Page, type Paged } from '../../kernel/page.ts'

const tagsOf = (repositoryId: number) => and(eq(refs.repositoryId, repositoryId), eq(refs.kind, 'tag'))

/** Wire: the tag of the newest commit first. */
export async function listTags(db: Db, repositoryId: number, page: Page): Promise<Paged<RefRow>> {
  const rows = db
    .select()
    .from(refs)
    .where(tagsOf(repositoryId))
    .orderBy(sql`${desc(refs.committedAt)} nulls last`, asc(refs.name))
    .limit(page.limit)
    .offset(page.offset)
  const [found, total] = await Promise.all([rows, db.$count(refs, tagsOf(repositoryId))])
  return numberedPage(page, { rows: found, total })
}

export async function findTag(db: Db, repositoryId: number, name: string): Promise<RefRow | undefined> {
  const [row] = await db
    .select()
    .from(refs)
    .where(and(tagsOf(repositoryId), eq(refs.name, name)))
  return row
}

/** Drafts count too: their tag may be there before them. */
export async function hasRelease(db: Db, repositoryId: number, tagName: string): Promise<boolean> {
  return (await db.$count(releases, and(eq(releases.repositoryId, repositoryId), eq(releases.tagName, tagName)))) > 0
}
