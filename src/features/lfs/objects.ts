import type { LfsObjectRow } from '../../../db/schema/lfs.ts'
import { requireKeptBytes, requireRoom } from '../../access/byte-quota.ts'
import type { Context } from '../../context.ts'
import { badRequest, notFound, Refusal, tooLarge } from '../../kernel/errors.ts'
import { randomHex } from '../../kernel/hashing.ts'
import type { LfsPushAccess } from './gate.ts'
import { lfsQuota } from './quota.ts'
import { isObject, type NamedObject } from './schema.ts'
import { findHeld, holdObject, linkObjects } from './store.ts'

/** Folder of the object store. */
export const FOLDER = 'lfs'

interface Upload extends NamedObject {
  content: ReadableStream<Uint8Array>
  signal: AbortSignal
}

/**
 * Takes the content of an object. It is in the repository when all of it has come, is what its name says, and is on the disk; before that
 * nothing is seen of it, and a crash leaves at most a file that nobody names. Who sends what another repository has proves by that
 * to have it too, and it is stored once.
 * @throws Refusal 400 where it is not what its name says, 413, 507
 */
export async function receiveObject(context: Context, { repo }: LfsPushAccess, upload: Upload): Promise<void> {
  const { config, db, objects, clock } = context
  const { oid, size } = upload
  if (!isObject(upload)) throw notFound('no SHA-256 or no size of a file')
  if (size > config.lfsMaxFileBytes) throw tooLarge(`the file is larger than ${config.lfsMaxFileBytes} bytes`)
  const repositoryId = repo.repository.id
  await requireRoom(db, lfsQuota(config), { repositoryId, more: size })
  const storeKey = `${FOLDER}/${oid.slice(0, 2)}/${oid}-${randomHex(8)}`
  await store(context, storeKey, upload)
  try {
    const row = await db.transaction(async (tx) => {
      const held = await holdObject(tx, { oid, sizeBytes: size, storeKey })
      await linkObjects(tx, { repositoryId, objectIds: [held.id], now: clock.now() })
      await requireKeptBytes(tx, lfsQuota(config), repositoryId)
      return held
    })
    // Another upload of the same content was first.
    if (row.storeKey !== storeKey) await objects.remove(storeKey)
  } catch (error) {
    // After any other failure the row may be there all the same; what has none is removed by the clock (garbage.ts).
    if (error instanceof Refusal) await objects.remove(storeKey)
    throw error
  }
}

async function store({ objects, config }: Context, storeKey: string, upload: Upload): Promise<void> {
  const { oid, size, content } = upload
  // As long as a push may take: what is older and has no row belongs to nobody (garbage.ts).
  const signal = AbortSignal.any([upload.signal, AbortSignal.timeout(config.gitTimeoutSeconds * 1000)])
  try {
    await objects.put(storeKey, content, { maxBytes: size, expected: { size, sha256: oid }, signal })
  } catch (error) {
    // Wire: git-lfs takes 422 for an object that is there already, and would let the push go on.
    if (error instanceof Refusal && (error.status === 422 || error.status === 413)) throw badRequest(error.message)
    throw error
  }
}

/** Whether the repository has what was sent. @throws Refusal 404; 400 for another size, since git-lfs passes over 422 */
export async function verifyObject(
  { db }: Context,
  { repo }: LfsPushAccess,
  { oid, size }: NamedObject,
): Promise<void> {
  const found = await getObject(db, repo.repository.id, oid)
  if (found.sizeBytes !== size) throw badRequest('the object has another size')
}

/** @throws Refusal 404 for what the repository does not have, wherever else it may be */
export async function getObject(db: Context['db'], repositoryId: number, oid: string): Promise<LfsObjectRow> {
  const held = isObject({ oid, size: 0 }) ? await findHeld(db, repositoryId, [oid]) : undefined
  const found = held?.get(oid)
  if (!found) throw notFound('object does not exist')
  return found
}

/** @throws Refusal 410 */
export async function openObject(
  { objects, log }: Context,
  { oid, storeKey }: LfsObjectRow,
  range?: { start: number; end: number },
) {
  const opened = await objects.open(storeKey, range)
  if (opened) return opened
  log.error({ oid, storeKey }, 'an object of Git LFS is missing in the object store')
  throw new Refusal(410, 'the content of this object is lost: ask whoever has a clone to push it again')
}
