import { and, asc, desc, eq, inArray, sql } from 'drizzle-orm'
import { auditEntries } from '../../../db/schema/audit.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import { wikis } from '../../../db/schema/wikis.ts'
import type { Context } from '../../context.ts'
import { longestPushSeconds } from '../../features/refs/repair.ts'
import { storagePath } from '../../git/storage.ts'
import { hasJob } from '../../jobs/look.ts'
import { type DataCheck, settle } from './check.ts'

const BATCH = 500

/** Folders of the store against rows. */
export interface FolderSurvey {
  /** Repositories and wikis. */
  rows: number
  folders: number
  /** Of no repository and no wiki, none that is being created, and none that a job is about to remove. */
  strays: number[]
  /** At least half of the rows have a folder: else the volume may be the wrong one, and nothing is made up for what it lacks. */
  mayRestore: boolean
  /** The same the other way round, for the database. */
  mayRemove: boolean
}

export async function surveyFolders({ context, signal, progress }: DataCheck): Promise<FolderSurvey> {
  const { db, git } = context
  const strays: number[] = []
  let [folders, batch]: [number, number[]] = [0, []]
  const look = async () => {
    strays.push(...(await listUnknown(context, batch)))
    batch = []
    progress(`${folders} folders compared`)
  }
  for await (const id of git.listStoredIds()) {
    if (signal.aborted) break
    folders += 1
    batch.push(id)
    if (batch.length === BATCH) await look()
  }
  if (batch.length > 0) await look()
  const rows = (await db.$count(repositories)) + (await db.$count(wikis))
  const known = folders - strays.length
  return { rows, folders, strays, mayRestore: known * 2 >= rows, mayRemove: strays.length * 2 <= folders }
}

/** In one statement, asked after the folder was seen: a creation ends its reservation when its row appears. */
async function listUnknown({ db }: Pick<Context, 'db'>, ids: readonly number[]): Promise<number[]> {
  const rows = await db.execute<{ id: string }>(sql`
    select id from jsonb_array_elements_text(${JSON.stringify(ids)}::text::jsonb) as folder (id)
    where not exists (select 1 from repositories where repositories.id = folder.id::bigint)
      and not exists (select 1 from wikis where wikis.folder_id = folder.id::bigint)
      and not exists (select 1 from repository_reservations where repository_reservations.id = folder.id::bigint)
      and not ${hasJob('repository.remove_folder', sql`jsonb_build_object('repositoryId', folder.id::bigint)`)}`)
  return rows.map(({ id }) => Number(id))
}

/** Folders that no row names: what came after the backup of the database, or was deleted after that of the folders. */
export async function checkStrays(check: DataCheck, { strays, folders, mayRemove }: FolderSurvey): Promise<void> {
  if (!mayRemove) {
    const detail = `${strays.length} of ${folders} folders in ${check.context.config.repositoriesDir} belong to no repository`
    const remedy = 'see whether DATABASE_URL and REPOSITORIES_DIR belong together; nothing is moved until they do'
    check.found({ subject: 'Folders', detail, remedy, isRepaired: false })
    return
  }
  const administrator = await findAdministrator(check.context)
  for (const id of strays) {
    if (check.signal.aborted) return
    await checkStray(check, id, administrator)
  }
}

async function checkStray(check: DataCheck, id: number, administrator: string | undefined): Promise<void> {
  const { context } = check
  const place = administrator === undefined ? undefined : { owner: administrator, name: `lost-${id}` }
  const name = await lastName(context, id)
  await settle(check, {
    subject: storagePath(id),
    detail: `no repository has this folder${name === undefined ? '' : `; it was ${name}`}`,
    remedy: 'move it to OWNER/NAME.git in REPOSITORIES_DIR, where it can be adopted, or delete it',
    ...(place && {
      repair: {
        how: `moves it to ${place.owner}/${place.name}.git, where an administrator can adopt or delete it`,
        async run() {
          if ((await listUnknown(context, [id])).length === 0) return
          await context.git.repair.setAside(id, place)
        },
      },
    }),
  })
}

async function findAdministrator({ db }: Context): Promise<string | undefined> {
  const isAdministrator = and(eq(users.kind, 'user'), eq(users.isAdmin, true))
  const [row] = await db.select({ name: users.name }).from(users).where(isAdministrator).orderBy(asc(users.id)).limit(1)
  return row?.name
}

/** As the audit trail knows it. */
async function lastName({ db }: Context, id: number): Promise<string | undefined> {
  const ofRepository = and(eq(auditEntries.subjectKind, 'repository'), inArray(auditEntries.subjectId, [id]))
  const [entry] = await db
    .select({ name: auditEntries.subjectName })
    .from(auditEntries)
    .where(ofRepository)
    .orderBy(desc(auditEntries.id))
    .limit(1)
  return entry?.name
}

/** What killed creations and removals have left beside the store. */
export async function checkHalfBuilt(check: DataCheck): Promise<void> {
  const { git, config } = check.context
  const seconds = longestPushSeconds(config)
  const found = await git.repair.listHalfBuilt(seconds)
  if (found.length === 0) return
  await settle(check, {
    subject: 'Folders',
    detail: `${found.length} were left half built or half removed, such as ${found[0]}`,
    remedy: '',
    repair: { how: 'removes them', run: () => git.cleanStore(seconds) },
  })
}
