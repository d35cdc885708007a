import type { ActionsArtifactRow } from '../../../db/schema/actions-artifacts.ts'
import { requireKeptBytes, requireRoom } from '../../access/byte-quota.ts'
import type { Context } from '../../context.ts'
import { badRequest, conflict, notFound, Refusal, tooLarge } from '../../kernel/errors.ts'
import { sha256Hex } from '../../kernel/hashing.ts'
import { holdRepository } from '../attachments/store.ts'
import { newKey, uploadSignal } from './objects.ts'
import { artifactQuota } from './quota.ts'
import { type Block, findUploading, listBlocks, putBlock, removeBlocks, updateArtifact } from './store.ts'

/** Clients send 8 MiB in each. */
export const MAX_BLOCKS = 10_000

/** Azure's limit: 64 bytes in base64. */
const BLOCK_ID = /^[A-Za-z0-9+/=_-]{1,88}$/

/** @throws Refusal 404 for what is not there, has been finalized, or whose job has ended */
export async function getUploading({ db }: Context, id: number): Promise<ActionsArtifactRow> {
  const row = await findUploading(db, id)
  if (!row) throw gone()
  return row
}

const gone = () => notFound('the artifact takes nothing more')

/**
 * Stores a block of an artifact; the same id again replaces it. Blocks come in any order, and several at once.
 * @throws Refusal 400, 404, 413
 */
export async function stageBlock(
  context: Context,
  { id, repositoryId }: ActionsArtifactRow,
  { blockId, request }: { blockId: string; request: Request },
): Promise<void> {
  const { config, db, objects } = context
  if (!BLOCK_ID.test(blockId)) throw badRequest('no id of a block')
  const maxBytes = config.actionsArtifactMaxBytes
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > maxBytes) throw tooLong(maxBytes)
  await requireRoom(db, artifactQuota(config), { repositoryId, more: announced })
  const storeKey = newKey()
  const content = request.body ?? new Blob([]).stream()
  const { size: sizeBytes } = await objects.put(storeKey, content, { maxBytes, signal: uploadSignal(context, request) })
  await discardRefused(context, storeKey, () =>
    keepBlock(context, { id, repositoryId }, { blockId, storeKey, sizeBytes }),
  )
}

function keepBlock(
  { config, db, clock }: Context,
  { id, repositoryId }: Pick<ActionsArtifactRow, 'id' | 'repositoryId'>,
  block: Block,
): Promise<void> {
  const maxBytes = config.actionsArtifactMaxBytes
  return db.transaction(async (tx) => {
    const row = (await holdRepository(tx, repositoryId)) && (await findUploading(tx, id, true))
    if (!row) throw gone()
    const { count, bytes } = await putBlock(tx, id, block)
    if (count > MAX_BLOCKS) throw tooLarge(`an artifact has at most ${MAX_BLOCKS} blocks`)
    if (bytes > maxBytes) throw tooLong(maxBytes)
    const whole = row.storeKey === null ? 0 : (row.sizeBytes ?? 0)
    await updateArtifact(tx, id, { heldBytes: bytes + whole, updatedAt: clock.now() })
    await requireKeptBytes(tx, artifactQuota(config), repositoryId)
  })
}

/**
 * Makes blocks one object, in this order. The same list again changes nothing, so that a client whose answer was lost may ask again.
 * @throws Refusal 400 for a block that is not there, 404, 409 where another request changes the blocks
 */
export async function commitBlocks(
  context: Context,
  { id, repositoryId, blockListHash: known }: ActionsArtifactRow,
  { blockIds, request }: { blockIds: readonly string[]; request: Request },
): Promise<void> {
  const { config, db, objects, clock } = context
  const blockListHash = sha256Hex(blockIds.join('\n'))
  if (blockListHash === known) return
  const parts = choose(await listBlocks(db, id), blockIds)
  const storeKey = newKey()
  const expected = { size: parts.reduce((bytes, { sizeBytes }) => bytes + sizeBytes, 0) }
  const option = { maxBytes: config.actionsArtifactMaxBytes, expected, signal: uploadSignal(context, request) }
  const { size: sizeBytes, sha256 } = await objects.put(storeKey, joined(context, parts), option)
  await discardRefused(context, storeKey, () =>
    db.transaction(async (tx) => {
      if (!(await holdRepository(tx, repositoryId)) || !(await findUploading(tx, id, true))) throw gone()
      await removeBlocks(tx, id)
      const whole = { storeKey, sizeBytes, sha256, blockListHash, heldBytes: sizeBytes }
      await updateArtifact(tx, id, { ...whole, updatedAt: clock.now() })
    }),
  )
}

function choose(known: ReadonlyMap<string, Block>, blockIds: readonly string[]): Block[] {
  if (new Set(blockIds).size < blockIds.length) throw badRequest('the list names a block twice')
  return blockIds.map((blockId) => {
    const block = known.get(blockId)
    if (!block) throw badRequest(`the block ${blockId} was not uploaded`)
    return block
  })
}

/** One block after the other, as fast as it is read. */
function joined({ objects }: Context, parts: readonly Block[]): ReadableStream<Uint8Array> {
  async function* pieces() {
    for (const { storeKey } of parts) {
      const opened = await objects.open(storeKey)
      if (!opened) throw conflict('the block was uploaded again meanwhile')
      yield* opened.content
    }
  }
  const bytes = pieces()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await bytes.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        await bytes.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}

/** After any other failure the row may be there all the same: a commit whose answer was lost. The clock removes what has none. */
async function discardRefused({ objects }: Context, storeKey: string, keep: () => Promise<void>): Promise<void> {
  try {
    await keep()
  } catch (error) {
    if (error instanceof Refusal) await objects.remove(storeKey)
    throw error
  }
}

const tooLong = (maxBytes: number) => tooLarge(`the artifact is larger than ${maxBytes} bytes`)
