import { requireKeptBytes, requireRoom } from '../../access/byte-quota.ts'
import type { Context } from '../../context.ts'
import { conflict, tooLarge } from '../../kernel/errors.ts'
import { grantFor, type LfsAccess, type LfsPushAccess } from './gate.ts'
import { lfsQuota } from './quota.ts'
import { type BatchRequest, isObject, type NamedObject } from './schema.ts'
import { findHeld, linkObjects, listReadable, useHeld } from './store.ts'
import { headerFor, type Operation, TOKEN_SECONDS } from './token.ts'

interface Action {
  href: string
  header: Record<string, string>
  expires_in: number
}

/** What git-lfs reads of an object: what to do with it, nothing where there is nothing to do, or what is wrong. */
interface AnsweredObject extends NamedObject {
  authenticated?: true
  actions?: Partial<Record<Operation | 'verify', Action>>
  error?: { code: number; message: string }
}

type Batch = typeof BatchRequest.static

/** @throws Refusal 409 for another kind of oid, 413 for too many objects, of which git-lfs then sends fewer */
export function requireBatch({ config }: Pick<Context, 'config'>, { objects, hash_algo: hash }: Batch): void {
  if (hash !== undefined && hash !== 'sha256') throw conflict('objects are named by their sha256 here')
  if (objects.length > config.lfsMaxBatchSize) throw tooLarge(`at most ${config.lfsMaxBatchSize} objects at once`)
}

const batchOf = (objects: AnsweredObject[]) => ({ transfer: 'basic', objects, hash_algo: 'sha256' })

/** Where to read each object that the repository has. */
export async function answerDownload(context: Context, access: LfsAccess, { objects }: Batch) {
  const { actor } = access
  const header = actor ? headerFor(context, grantFor({ ...access, actor }, 'download')) : {}
  const held = await findHeld(context.db, access.repo.repository.id, oidsOf(objects))
  return batchOf(
    objects.map((asked) => {
      const found = held.get(asked.oid)
      const error = fault(asked, found?.sizeBytes) ?? (found ? undefined : failed(404, 'object does not exist'))
      if (error) return { ...asked, error }
      const download = actionTo(`${rootOf(access)}/objects/${asked.oid}`, header)
      return { ...asked, authenticated: true, actions: { download } }
    }),
  )
}

/**
 * Where to send each object that the repository does not have. What the uploader may read elsewhere it has from then on. Of anything else
 * the answer does not say that it is here: it is sent once more.
 */
export async function answerUpload(context: Context, access: LfsPushAccess, { objects }: Batch) {
  const held = await findOrLink(context, access, objects)
  const header = headerFor(context, grantFor(access, 'upload'))
  const answers = objects.map((asked): AnsweredObject => {
    const error = fault(asked, held.get(asked.oid)) ?? tooBig(context, asked)
    if (error) return { ...asked, error }
    if (held.has(asked.oid)) return asked
    const upload = actionTo(`${rootOf(access)}/objects/${asked.oid}/${asked.size}`, header)
    const verify = actionTo(`${rootOf(access)}/verify`, header)
    return { ...asked, authenticated: true, actions: { upload, verify } }
  })
  const sent = new Map(answers.filter(({ actions }) => actions).map(({ oid, size }) => [oid, size]))
  const more = [...sent.values()].reduce((sum, size) => sum + size, 0)
  await requireRoom(context.db, lfsQuota(context.config), { repositoryId: access.repo.repository.id, more })
  return batchOf(answers)
}

/** Sizes of the objects that the repository has, those included that it has from now on. */
async function findOrLink(
  context: Context,
  { actor, repo }: LfsPushAccess,
  objects: readonly NamedObject[],
): Promise<Map<string, number>> {
  const { db, config } = context
  const [repositoryId, now] = [repo.repository.id, context.clock.now()]
  const held = await useHeld(db, { repositoryId, oids: oidsOf(objects), now })
  const wanted = new Map(objects.filter(isObject).map(({ oid, size }) => [oid, size]))
  const missing = [...wanted.keys()].filter((oid) => !held.has(oid))
  // A credential for chosen repositories says nothing of others: there everything is sent.
  if (missing.length === 0 || actor.repositoryIds !== undefined) return held
  const readable = await listReadable(db, { site: config, actor, oids: missing })
  const same = readable.filter(({ oid, sizeBytes }) => wanted.get(oid) === sizeBytes)
  if (same.length === 0) return held
  const objectIds = same.map(({ id }) => id)
  const linked = await db.transaction(async (tx) => {
    const ids = await linkObjects(tx, { repositoryId, objectIds, now })
    await requireKeptBytes(tx, lfsQuota(config), repositoryId)
    return ids
  })
  for (const { id, oid, sizeBytes } of same) if (linked.has(id)) held.set(oid, sizeBytes)
  return held
}

/** What could be one: anything else is not asked of the database. */
const oidsOf = (objects: readonly NamedObject[]): string[] => objects.filter(isObject).map(({ oid }) => oid)

const failed = (code: number, message: string) => ({ code, message })

function fault(asked: NamedObject, size: number | undefined): AnsweredObject['error'] {
  if (!isObject(asked)) return failed(422, 'no SHA-256 or no size of a file')
  return size === undefined || size === asked.size ? undefined : failed(422, `the object has another size`)
}

function tooBig({ config }: Context, { size }: NamedObject): AnsweredObject['error'] {
  const maxBytes = config.lfsMaxFileBytes
  return size > maxBytes ? failed(422, `the file is larger than ${maxBytes} bytes (LFS_MAX_FILE_BYTES)`) : undefined
}

const rootOf = ({ repo }: LfsAccess): string => `${repo.htmlUrl}.git/info/lfs`

const actionTo = (href: string, header: Record<string, string>): Action => ({
  href,
  header,
  expires_in: TOKEN_SECONDS,
})
