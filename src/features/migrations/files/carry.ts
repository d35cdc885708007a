import type { FileFault, MigrationFileRow, MigrationPartRow } from '../../../../db/schema/migrations.ts'
import { violatedConstraint } from '../../../../db/violations.ts'
import { requireKeptBytes } from '../../../access/byte-quota.ts'
import { requireOwnedQuota } from '../../../access/quota.ts'
import type { Config } from '../../../config.ts'
import type { Context } from '../../../context.ts'
import { Refusal } from '../../../kernel/errors.ts'
import { attachmentQuota } from '../../attachments/quota.ts'
import { discardFile, type ReceivedFile } from '../../attachments/receive.ts'
import { countAttachments, insertAttachment } from '../../attachments/store.ts'
import type { Attempt } from '../batch.ts'
import { findMigration, holdRepository, updateMigration, updatePart } from '../store.ts'
import { fetchFile } from './fetch.ts'
import { countFaults, findOpenFile, holdRelease, leaveFile, removeFile } from './store.ts'

/**
 * Takes over the next file of a release. Its bytes are stored first; then its row, the end of the note of it and the progress are one
 * transaction. So a killed attempt is made again, and nothing comes twice. False when the repository is gone.
 * @throws OutboundError, SourceError where it may come later
 */
export async function carryFile(context: Context, attempt: Attempt, part: MigrationPartRow): Promise<boolean> {
  const file = await findOpenFile(context.db, part.repositoryId)
  if (!file) return endFiles(context, attempt, part)
  const fetched = await fetchFile(context, attempt, file)
  if (typeof fetched === 'string') return leave(context, attempt, { part, file, fault: fetched })
  try {
    return await keep(context, attempt, { part, file, fetched })
  } catch (error) {
    // After any other failure the row may be there all the same: a commit whose answer was lost.
    const isUndone = error instanceof Refusal || violatedConstraint(error) !== undefined
    if (isUndone) await discardFile(context, fetched)
    // Somebody has added files to the release, or to another repository of the owner, meanwhile.
    if (error instanceof Refusal)
      return leave(context, attempt, { part, file, fault: error.status === 413 ? 'full' : 'many' })
    throw error
  }
}

interface Kept {
  part: MigrationPartRow
  file: MigrationFileRow
  fetched: ReceivedFile
}

/** @throws Refusal 413 past ATTACHMENT_MAX_OWNER_BYTES, 422 past MAX_OWNED */
async function keep(context: Context, { migration, run }: Attempt, { part, file, fetched }: Kept): Promise<boolean> {
  const { db, config } = context
  const { repositoryId, releaseId, createdAt, downloadCount } = file
  const outcome = await db.transaction(async (tx) => {
    await run.holdLease(tx)
    if (!(await holdRepository(tx, migration))) return 'no repository'
    if (!(await holdRelease(tx, releaseId)) || !(await removeFile(tx, file.id))) return 'no release'
    const place = { repositoryId, releaseId }
    await insertAttachment(tx, { ...fetched, ...place, createdAt, downloadCount, uploaderId: migration.doerId })
    await requireOwnedQuota(tx, config, {
      items: 'files of a release',
      of: `release ${releaseId}`,
      count: () => countAttachments(tx, place),
    })
    await requireKeptBytes(tx, attachmentQuota(config), repositoryId)
    if (!(await updatePart(tx, part, { page: part.page + 1, carried: part.carried + 1 })))
      throw new Error('another attempt has written this file')
    await updateMigration(tx, repositoryId, { failures: 0, lastError: '' })
    return 'kept'
  })
  if (outcome !== 'kept') await discardFile(context, fetched)
  return outcome !== 'no repository'
}

/** Goes on without the file. False when the repository is gone. */
function leave(
  { db }: Context,
  { migration, run }: Attempt,
  { part, file, fault }: { part: MigrationPartRow; file: MigrationFileRow; fault: FileFault },
): Promise<boolean> {
  return db.transaction(async (tx) => {
    await run.holdLease(tx)
    if (!(await holdRepository(tx, migration))) return false
    await leaveFile(tx, file.id, fault)
    await updatePart(tx, part, { page: part.page + 1 })
    await updateMigration(tx, part.repositoryId, { failures: 0, lastError: '' })
    return true
  })
}

/** Says which do not come. */
async function endFiles({ db, clock, config }: Context, { run }: Attempt, part: MigrationPartRow): Promise<boolean> {
  const { repositoryId } = part
  return db.transaction(async (tx) => {
    await run.holdLease(tx)
    const migration = await findMigration(tx, repositoryId)
    if (!migration) return false
    const left = await countFaults(tx, repositoryId)
    const sentences = left.flatMap(({ fault, files }) =>
      fault === null ? [] : [`files of releases (${files}): ${reasonsOf(config)[fault]}`],
    )
    await updatePart(tx, part, { endedAt: clock.now() })
    await updateMigration(tx, repositoryId, { notCarried: [...migration.notCarried, ...sentences] })
    return true
  })
}

const reasonsOf = ({
  releaseFileMaxSize,
  maxOwned,
  attachmentMaxOwnerBytes,
}: Config): Readonly<Record<FileFault, string>> => ({
  name: 'their names or types are not allowed here (RELEASE_ALLOWED_TYPES)',
  large: `they are larger than ${releaseFileMaxSize} bytes (RELEASE_FILE_MAX_SIZE)`,
  many: `their releases have more than ${maxOwned} (MAX_OWNED)`,
  address: 'their addresses may not be reached from here',
  missing: 'the other server does not give them out',
  other: 'they have another size than the other server says',
  broken: 'they did not come whole in three tries',
  full: `the owner's repositories may hold ${attachmentMaxOwnerBytes} bytes of attached files (ATTACHMENT_MAX_OWNER_BYTES)`,
  off: 'files are switched off here (ATTACHMENT_ENABLED)',
})
