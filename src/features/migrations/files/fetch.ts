import type { FileFault, MigrationFileRow } from '../../../../db/schema/migrations.ts'
import { hasRoom } from '../../../access/byte-quota.ts'
import type { Context } from '../../../context.ts'
import { Refusal } from '../../../kernel/errors.ts'
import { OutboundError } from '../../../outbound/outbound-error.ts'
import { attachmentQuota } from '../../attachments/quota.ts'
import { type ReceivedFile, storeFile } from '../../attachments/receive.ts'
import type { Attempt } from '../batch.ts'
import { SourceError } from '../source.ts'
import { countTry } from './store.ts'

/** Then the file is left, and the next one comes. */
const MAX_TRIES = 3

/**
 * Brings a file into the object store, with no more memory than a piece of it, and none but the one that was announced.
 * @returns the stored file, which no row names yet; or why it will never come
 * @throws OutboundError, SourceError where it may come later
 */
export async function fetchFile(
  context: Context,
  { source, run }: Attempt,
  file: MigrationFileRow,
): Promise<ReceivedFile | FileFault> {
  const { config, db } = context
  const { repositoryId, name, size } = file
  if (!config.attachmentEnabled) return 'off'
  if (!(await hasRoom(db, attachmentQuota(config), { repositoryId, more: size }))) return 'full'
  try {
    const { status, content } = await source.download(file.url)
    if (status === 200)
      return await storeFile(context, { name, content, maxBytes: size, expected: { size }, signal: run.signal })
    await content.cancel()
    if (status >= 500 || LATER.has(status)) throw new SourceError(`the other server answers with ${status} for a file`)
    return 'missing'
  } catch (error) {
    run.signal.throwIfAborted()
    const fault = lastFaultOf(error)
    if (fault !== undefined) return fault
    if (isOfFile(error) && (await countTry(db, file.id)) >= MAX_TRIES) return 'broken'
    throw error
  }
}

/** It took too long, or asks to wait. */
const LATER: ReadonlySet<number> = new Set([408, 425, 429])

/** Undefined for what may be better next time. */
function lastFaultOf(error: unknown): FileFault | undefined {
  // More bytes than were announced, or fewer.
  if (error instanceof Refusal && (error.status === 413 || error.status === 422)) return 'other'
  if (error instanceof OutboundError && (error.problem === 'refused' || error.problem === 'redirect')) return 'address'
  return undefined
}

/** A server that is not there at all is not due to one of its files. Nor is what is wrong on our side. */
const isOfFile = (error: unknown): boolean =>
  error instanceof SourceError || (error instanceof OutboundError && !['connect', 'lookup'].includes(error.problem))
