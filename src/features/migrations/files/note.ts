import type { FileFault } from '../../../../db/schema/migrations.ts'
import type { Config } from '../../../config.ts'
import { Refusal } from '../../../kernel/errors.ts'
import { readName } from '../../attachments/name.ts'
import type { Batch } from '../batch.ts'
import { type Fields, fieldsOf, pastTimeOf, textOf } from '../read.ts'
import { SourceError } from '../source.ts'
import { insertFiles, type NewFile } from './store.ts'

interface NewRelease {
  releaseId: number
  /** As the other server lists them. */
  assets: unknown
}

/**
 * Notes which files come for releases that were just made, in the transaction that makes them; `carryFile` fetches them later.
 * @throws SourceError past MIGRATION_MAX_ITEMS
 */
export async function noteFiles(batch: Batch, releases: readonly NewRelease[]): Promise<void> {
  if (!batch.bringsFiles) return
  const { db, config } = batch.context
  const files = releases.flatMap(({ releaseId, assets }) =>
    (Array.isArray(assets) ? assets : []).map((asset, place) => readFile(batch, { releaseId, asset, place })),
  )
  if (files.length === 0) return
  const most = config.migrationMaxItems
  const total = files.length > most ? files.length : await insertFiles(db, batch.repository.id, files)
  if (total > most)
    throw new SourceError(`the other server has more than ${most} files of releases (MIGRATION_MAX_ITEMS)`, {
      isFinal: true,
    })
}

const MAX_URL_LENGTH = 2048
const MOST_DOWNLOADS = 1_000_000_000

function readFile(
  { context: { config }, now }: Batch,
  { releaseId, asset, place }: { releaseId: number; asset: unknown; place: number },
): NewFile {
  const item = fieldsOf(asset)
  const name = nameOf(item, config)
  const url = urlOf(item.browser_download_url)
  const size = countOf(item.size)
  const count = countOf(item.download_count) ?? 0
  return {
    releaseId,
    name: name ?? '',
    url: url ?? '',
    size: size ?? 0,
    downloadCount: Math.min(count, MOST_DOWNLOADS),
    createdAt: pastTimeOf(item.created_at, now) ?? now,
    fault: faultOf({ name, url, size, place }, config),
  }
}

interface Said {
  name: string | undefined
  url: string | undefined
  size: number | undefined
  place: number
}

/** Null for a file that comes, as far as can be seen. */
function faultOf({ name, url, size, place }: Said, config: Config): FileFault | null {
  if (!config.attachmentEnabled) return 'off'
  if (name === undefined) return 'name'
  if (url === undefined) return 'address'
  if (size === undefined) return 'other'
  if (size > config.releaseFileMaxSize) return 'large'
  return place >= config.maxOwned ? 'many' : null
}

/** Without folders, and by the rules for everybody's files. */
function nameOf({ name }: Fields, { releaseAllowedTypes }: Config): string | undefined {
  if (typeof name !== 'string') return undefined
  try {
    return readName(name, releaseAllowedTypes)
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}

function urlOf(value: unknown): string | undefined {
  const url = URL.parse(textOf(value, MAX_URL_LENGTH + 1))
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.href.length > MAX_URL_LENGTH) return undefined
  return url.username === '' && url.password === '' ? url.href : undefined
}

const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
