import { and, asc, desc, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { type RefRow, refs } from '../../../db/schema/refs.ts'
import { numberedPage, type Page, type Paged } from '../../kernel/page.ts'

const branchesOf = (repositoryId: number) => and(eq(refs.repositoryId, repositoryId), eq(refs.kind, 'branch'))

/** Wire: the branch with the newest commit first. */
export async function listBranches(db: Db, repositoryId: number, page: Page): Promise<Paged<RefRow>> {
  const rows = db
    .select()
    .from(refs)
    .where(branchesOf(repositoryId))
    .orderBy(sql`${desc(refs.committedAt)} nulls last`, asc(refs.name))
    .limit(page.limit)
    .offset(page.offset)
  const [found, total] = await Promise.all([rows, db.$count(refs, branchesOf(repositoryId))])
  return numberedPage(page, { rows: found, total })
}

export async function findBranch(db: Db, repositoryId: number, name: string): Promise<RefRow | undefined> {
  const [row] = await db
    .select()
    .from(refs)
    .where(and(branchesOf(repositoryId), eq(refs.name, name)))
  return row
}

export async function isTag(db: Db, repositoryId: number, name: string): Promise<boolean> {
  const isNamed = and(eq(refs.repositoryId, repositoryId), eq(refs.kind, 'tag'), eq(refs.name, name))
  return (await db.$count(refs, isNamed)) > 0
}
