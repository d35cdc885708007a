import { and, desc, eq, ne } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { type ActionsArtifactRow, actionsArtifacts as artifacts } from '../../../db/schema/actions-artifacts.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import { numberedPage, type Page, type Paged } from '../../kernel/page.ts'

export interface ArtifactFilter {
  repositoryId: number
  runId?: number | undefined
  name?: string | undefined
}

/** What is being sent is nobody else's business. */
const isShown = ne(artifacts.state, 'uploading')

/** The newest first. */
export async function listShown(
  db: Db,
  { repositoryId, runId, name }: ArtifactFilter,
  page: Page,
): Promise<Paged<ActionsArtifactRow>> {
  const where = and(
    eq(artifacts.repositoryId, repositoryId),
    runId === undefined ? undefined : eq(artifacts.runId, runId),
    name === undefined ? undefined : eq(artifacts.name, name),
    isShown,
  )
  const rows = db
    .select()
    .from(artifacts)
    .where(where)
    .orderBy(desc(artifacts.id))
    .limit(page.limit)
    .offset(page.offset)
  const [found, total] = await Promise.all([rows, db.$count(artifacts, where)])
  return numberedPage(page, { rows: found, total })
}

export async function findShown(db: Db, repositoryId: number, id: number): Promise<ActionsArtifactRow | undefined> {
  const which = and(eq(artifacts.id, id), eq(artifacts.repositoryId, repositoryId), isShown)
  const [row] = await db.select().from(artifacts).where(which)
  return row
}

/** Whether an artifact is of the repository of this name. */
export async function isOf(db: Db, id: number, { owner, repo }: { owner: string; repo: string }): Promise<boolean> {
  const rows = await db
    .select({ id: artifacts.id })
    .from(artifacts)
    .innerJoin(repositories, eq(repositories.id, artifacts.repositoryId))
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(
      and(
        eq(artifacts.id, id),
        eq(repositories.lowerName, repo.toLowerCase()),
        eq(users.lowerName, owner.toLowerCase()),
      ),
    )
  return rows.length > 0
}
