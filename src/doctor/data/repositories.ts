import { asc, eq, gt, sql } from 'drizzle-orm'
import { type RepositoryRow, repositories, repositoryCounters } from '../../../db/schema/repositories.ts'
import { users } from '../../../db/schema/users.ts'
import { wikis } from '../../../db/schema/wikis.ts'
import { findRefDifferences, type RefDifferences } from '../../features/refs/differences.ts'
import { measureFolders, refreshRepository } from '../../features/refs/refresh.ts'
import { longestPushSeconds } from '../../features/refs/repair.ts'
import { repairBrokenRefs } from '../../features/refs/repair-broken.ts'
import { syncRefs } from '../../features/refs/sync.ts'
import { WIKI_BRANCH } from '../../features/wikis/folder.ts'
import { storagePath } from '../../git/storage.ts'
import { hasJob } from '../../jobs/look.ts'
import { messageOf } from '../../kernel/thrown.ts'
import { type DataCheck, type Found, settle } from './check.ts'
import type { FolderSurvey } from './folders.ts'

const PAGE = 200
/** Repositories at once: Git's processes are most of the work. */
const ABREAST = 4

const columns = {
  id: repositories.id,
  wikiFolderId: wikis.folderId,
  name: repositories.name,
  owner: users.name,
  objectFormat: repositories.objectFormat,
  defaultBranch: repositories.defaultBranch,
}
type Row = Pick<RepositoryRow, 'id' | 'name' | 'objectFormat' | 'defaultBranch'> & {
  owner: string
  wikiFolderId: number | null
}

/** One of the folders of a repository. */
interface Folder {
  id: number
  row: Row
}

interface Circumstances extends FolderSurvey {
  /** A lock of this age belongs to nobody. */
  lockSeconds: number
}

/** Looks at the folder of every repository, a page of rows at a time. Returns how many there were. */
export async function checkRepositories(check: DataCheck, survey: Circumstances): Promise<number> {
  const { db } = check.context
  if (!survey.mayRestore) reportMissing(check, survey)
  let [after, looked] = [0, 0]
  while (!check.signal.aborted) {
    const rows = await db
      .select(columns)
      .from(repositories)
      .innerJoin(users, eq(users.id, repositories.ownerId))
      .leftJoin(wikis, eq(wikis.repositoryId, repositories.id))
      .where(gt(repositories.id, after))
      .orderBy(asc(repositories.id))
      .limit(PAGE)
    for (let at = 0; at < rows.length && !check.signal.aborted; at += ABREAST) {
      const some = rows.slice(at, at + ABREAST)
      await Promise.all(some.map((row) => checkRepository(check, row, survey)))
      looked += some.length
      check.progress(`${looked} of ${survey.rows} repositories looked through`)
    }
    after = rows.at(-1)?.id ?? after
    if (rows.length < PAGE) break
  }
  return looked
}

function reportMissing(check: DataCheck, { rows, folders, strays }: FolderSurvey): void {
  const detail = `${rows - (folders - strays.length)} of ${rows} repositories have no folder in ${check.context.config.repositoriesDir}`
  const remedy = 'see whether that is the right folder, and mounted; nothing is made up for them until it is'
  check.found({ subject: 'Folders', detail, remedy, isRepaired: false })
}

async function checkRepository(check: DataCheck, row: Row, { mayRestore, lockSeconds }: Circumstances): Promise<void> {
  try {
    const { id, wikiFolderId } = row
    const folders = wikiFolderId === null ? [id] : [id, wikiFolderId]
    for (const folderId of folders) {
      const folder = { id: folderId, row }
      if (!(await checkFolder(check, folder, mayRestore))) return
      await checkStale(check, folder, lockSeconds)
      if (check.looksAtObjects && !(await checkObjects(check, folder))) return
    }
    await checkRefs(check, row)
    await checkSize(check, row)
  } catch (error) {
    if (check.signal.aborted) return
    const detail = `it cannot be read: ${messageOf(error)}`
    const remedy = `see that this user may read and write ${storagePath(row.id)} in REPOSITORIES_DIR, and everything in it`
    await report(check, row, { detail, remedy })
  }
}

/** Says nothing of a repository that was deleted while it was looked at. */
async function report(check: DataCheck, row: Row, found: Omit<Found, 'subject'>): Promise<boolean> {
  const { db } = check.context
  if ((await db.$count(repositories, eq(repositories.id, row.id))) === 0) return false
  return settle(check, { subject: `${row.owner}/${row.name} (${row.id})`, ...found })
}

/** The same of one folder. */
function reportFolder(check: DataCheck, { id, row }: Folder, found: Omit<Found, 'subject'>): Promise<boolean> {
  return report(check, row, id === row.id ? found : { ...found, detail: `its wiki: ${found.detail}` })
}

async function checkFolder(check: DataCheck, folder: Folder, mayRestore: boolean): Promise<boolean> {
  const { git } = check.context
  const { id, row } = folder
  const [state, path] = [await git.repair.folderState(id), storagePath(id)]
  if (state === 'whole') return true
  if (state === 'no-folder') {
    const detail = `${path} is a link or a file`
    return reportFolder(check, folder, { detail, remedy: 'put the folder itself there, or change REPOSITORIES_DIR' })
  }
  // A wrong volume is reported once, above.
  if (state === 'missing' && !mayRestore) return false
  const detail = state === 'missing' ? `${path} is missing` : `${path} lacks HEAD, its settings, objects or refs`
  const how =
    state === 'missing' ? 'makes an empty repository there, keeping issues and the rest' : 'makes what an empty one has'
  const repair = {
    how,
    run: () => git.repair.restoreFolder(id, { ...row, ...(id !== row.id && { defaultBranch: WIKI_BRANCH }) }),
  }
  return reportFolder(check, folder, { detail, remedy: 'put it back from a backup', repair })
}

async function checkStale(check: DataCheck, folder: Folder, lockSeconds: number): Promise<void> {
  const { git, config } = check.context
  const ages = [longestPushSeconds(config), lockSeconds] as const
  const stale = await git.repair.listStale(folder.id, ...ages)
  if (stale.length === 0) return
  await reportFolder(check, folder, {
    detail: `killed processes left ${stale.length} locks or temporary files, such as ${stale[0]}`,
    remedy: '',
    repair: { how: 'removes them', run: () => git.cleanStale(folder.id, ...ages) },
  })
}

async function checkObjects(check: DataCheck, folder: Folder): Promise<boolean> {
  const { context, signal } = check
  const { isSound, problems: reported } = await context.git.fsck(folder.id, {}, { signal })
  const empty = await context.git.repair.listEmptyObjects(folder.id)
  if (isSound && empty.length === 0) return true
  const problems = [...empty.map((path) => `${path} is empty`), ...reported]
  const more = problems.length > 3 ? ` and ${problems.length - 3} more` : ''
  return reportFolder(check, folder, {
    detail: `objects are missing or damaged: ${problems.slice(0, 3).join(', ')}${more}`,
    remedy: 'put it back from a backup, or push what is missing again from a clone',
    repair: {
      how: 'removes what is empty, and sets branches and tags back to their last whole state',
      run: () => repairObjects(check, folder),
    },
  })
}

/** Returns what was done to refs. */
async function repairObjects({ context, signal }: DataCheck, { id, row }: Folder): Promise<string> {
  const { git } = context
  await git.repair.repairObjects(id, { signal })
  // Of a wiki no older states are recorded anywhere.
  const isCode = id === row.id
  const { repaired, lost } = isCode ? await repairBrokenRefs(context, id, signal) : { repaired: [], lost: [] }
  const changes = repaired.join(', ')
  const { isSound, problems } = await git.fsck(id, {}, { signal })
  if (isSound) return changes
  const left = lost.length > 0 ? `no whole state is known of ${lost.slice(0, 5).join(', ')}` : problems.join(', ')
  throw new Error([changes, left].filter((part) => part !== '').join('; '))
}

async function checkRefs(check: DataCheck, row: Row): Promise<void> {
  const differences = await findRefDifferences(check.context, row.id)
  if (!differences || (differences.moves.length === 0 && differences.head === undefined)) return
  // It will record them itself.
  if (differences.isPushed && !check.isRepairing) return
  await report(check, row, {
    detail: describe(differences),
    remedy: '',
    repair: { how: 'records what is on the disk', run: () => syncRefs(check.context, row.id, undefined) },
  })
}

function describe({ moves, head }: RefDifferences): string {
  const short = (sha: string | null) => sha?.slice(0, 10) ?? 'nothing'
  const shown = moves.slice(0, 3).map(({ ref, old, new: next }) => `${ref} is ${short(next)}, not ${short(old)}`)
  const more = moves.length > 3 ? [`${moves.length - 3} more differ`] : []
  const wrongHead = head === undefined ? [] : [`HEAD names ${head}, which is not the default branch`]
  return [...wrongHead, ...shown, ...more].join('; ')
}

/** Between the recorded size and the real one; Git's own upkeep changes a little. */
const TOLERATED = { part: 0.1, bytes: 64 * 1024 }

async function checkSize(check: DataCheck, row: Row): Promise<void> {
  const { db } = check.context
  const bytes = await measureFolders(check.context, row.id)
  const [now] = await db
    .select({ recorded: repositoryCounters.sizeBytes })
    .from(repositoryCounters)
    .where(eq(repositoryCounters.repositoryId, row.id))
  const recorded = now?.recorded ?? bytes
  if (Math.abs(bytes - recorded) <= Math.max(TOLERATED.bytes, bytes * TOLERATED.part)) return
  if (!check.isRepairing && (await isMeasuredSoon(check, row.id))) return
  await report(check, row, {
    detail: `it takes ${bytes} bytes, not ${recorded}`,
    remedy: '',
    repair: { how: 'measures it anew', run: () => refreshRepository(check.context, row.id, check.signal) },
  })
}

async function isMeasuredSoon({ context }: DataCheck, id: number): Promise<boolean> {
  const payload = sql`jsonb_build_object('repositoryId', ${id}::bigint)`
  const [row] = await context.db.execute<{ soon: boolean }>(
    sql`select ${hasJob('repository.refresh', payload)} as soon`,
  )
  return row?.soon === true
}
