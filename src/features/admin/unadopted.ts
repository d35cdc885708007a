import { and, eq, sql } from 'drizzle-orm'
import { anyOf } from '../../../db/any-of.ts'
import type { Db } from '../../../db/client.ts'
import { type RepositoryRow, repositories } from '../../../db/schema/repositories.ts'
import { type UserRow, users } from '../../../db/schema/users.ts'
import { findAccount } from '../../access/load-account.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { appendEvent } from '../../events/append.ts'
import { isGitError } from '../../git/errors.ts'
import type { UnadoptedFolder } from '../../git/model.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import { type Glob, GlobError, parseGlob } from '../../kernel/glob.ts'
import type { Page, Paged } from '../../kernel/page.ts'
import { setDefaultBranch } from '../refs/default-branch.ts'
import { recordFirstRefs } from '../refs/sync.ts'
import { requireRepositoryName } from '../repositories/names.ts'
import { insertRepository, insertWatch, isNameTaken } from '../repositories/store.ts'
import { payloadOf, subjectOf } from '../repositories/subject.ts'
import { buildRepository } from '../repository-creation/reserved.ts'
import { adoptWiki, repositoryOfWiki } from './unadopted-wiki.ts'

const nameOf = ({ owner, name }: UnadoptedFolder): string => `${owner}/${name}`

/** Folders whose names are compared with the rows at once. */
const BATCH = 500

/**
 * Repositories on the disk that nobody has a row for, in order. Every folder is looked at, and no more than a batch and the page of them
 * is held: 20,000 folders take 0.15 s.
 * @param pattern a glob over `owner/name`, in any letter case; without a slash over the owner
 * @throws Refusal 422 for a pattern that is broken or too long
 */
export async function listUnadopted(
  { db, git }: Pick<Context, 'db' | 'git'>,
  pattern: string | undefined,
  page: Page,
): Promise<Paged<string>> {
  const glob = pattern === undefined ? undefined : requireGlob(pattern)
  const rows: string[] = []
  let total = 0
  for await (const batch of batchesOf(git.listUnadopted(), (folder) => glob?.matches(nameOf(folder).toLowerCase()))) {
    const known = await findKnown(db, batch)
    const names = batch.map(nameOf).filter((name) => !known.has(name.toLowerCase()))
    rows.push(...names.slice(Math.max(0, page.offset - total), Math.max(0, page.offset + page.limit - total)))
    total += names.length
  }
  return { rows, total }
}

async function* batchesOf(
  folders: AsyncIterable<UnadoptedFolder>,
  isWanted: (folder: UnadoptedFolder) => boolean | undefined,
): AsyncIterable<UnadoptedFolder[]> {
  let batch: UnadoptedFolder[] = []
  for await (const folder of folders) {
    if (isWanted(folder) === false) continue
    batch.push(folder)
    if (batch.length < BATCH) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

function requireGlob(pattern: string): Glob {
  try {
    const whole = pattern.includes('/') ? pattern : `${pattern}/*`
    return parseGlob(whole.toLowerCase(), '/')
  } catch (error) {
    throw error instanceof GlobError ? invalid(error.message, 'pattern') : error
  }
}

/** Which of the folders have the name of a repository: a name that is in use is nobody's to adopt. */
async function findKnown(db: Db, folders: readonly UnadoptedFolder[]): Promise<ReadonlySet<string>> {
  const owners = [...new Set(folders.map(({ owner }) => owner.toLowerCase()))]
  const names = [...new Set(folders.map(({ name }) => name.toLowerCase()))]
  const rows = await db
    .select({ fullName: sql<string>`${users.lowerName} || '/' || ${repositories.lowerName}` })
    .from(repositories)
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(and(anyOf(users.lowerName, owners), anyOf(repositories.lowerName, names)))
  return new Set(rows.map(({ fullName }) => fullName))
}

/**
 * Makes a folder a private repository of its owner. The folder is copied, checked and then removed, so that a failure on the way
 * loses nothing. NAME.wiki beside it comes along, and is the wiki of a repository NAME that is there already.
 * @throws Refusal 404 when there is no such folder, owner or when the name is in use, 422 for what is no sound repository
 */
export async function adoptRepository(context: Context, actor: Actor, folder: UnadoptedFolder): Promise<void> {
  const owner = await requireFree(context, folder)
  if (!(await context.git.isUnadopted(folder))) throw notFound()
  const known = await findByName(context.db, owner, repositoryOfWiki(folder))
  if (known) {
    await git(() => adoptWiki(context, actor, { repository: known, owner, folder }))
    return removeAdopted(context, folder)
  }
  requireRepositoryName(folder.name)
  const id = await buildRepository(context, {
    buildFolder: (id) => git(() => context.git.importRepository(id, folder)),
    insertRows: (tx, id) => insertRows({ ...context, db: tx }, { actor, owner, name: folder.name }, id),
  })
  await removeAdopted(context, folder)
  await adoptWikiBeside(context, actor, { id, owner, folder })
}

/** One that cannot be adopted stays in the list, where adopting it by itself says why. */
async function adoptWikiBeside(
  context: Context,
  actor: Actor,
  { id, owner, folder }: { id: number; owner: UserRow; folder: UnadoptedFolder },
): Promise<void> {
  const beside = { ...folder, name: `${folder.name}.wiki` }
  if (!(await context.git.isUnadopted(beside))) return
  const [repository] = await context.db.select().from(repositories).where(eq(repositories.id, id))
  if (!repository) return
  try {
    await adoptWiki(context, actor, { repository, owner, folder: beside })
  } catch (err) {
    return context.log.warn({ err, folder: nameOf(beside) }, 'the wiki of an adopted repository could not be adopted')
  }
  await removeAdopted(context, beside)
}

async function removeAdopted(context: Context, folder: UnadoptedFolder): Promise<void> {
  try {
    await context.git.removeUnadopted(folder)
  } catch (err) {
    context.log.warn({ err, folder: nameOf(folder) }, 'the folder of an adopted repository could not be removed')
  }
}

async function findByName(db: Db, { id }: UserRow, name: string | undefined): Promise<RepositoryRow | undefined> {
  if (name === undefined) return undefined
  const named = and(eq(repositories.ownerId, id), eq(repositories.lowerName, name.toLowerCase()))
  const [row] = await db.select().from(repositories).where(named)
  return row
}

interface Adoption {
  actor: Actor
  owner: UserRow
  name: string
}

async function insertRows(context: Context, { actor, owner, name }: Adoption, id: number): Promise<void> {
  const { db, clock } = context
  const [head, objectFormat, { bytes }] = await Promise.all([
    context.git.getHead(id),
    context.git.objectFormat(id),
    context.git.sizeOnDisk(id),
  ])
  const now = clock.now()
  const row = await insertRepository(db, {
    id,
    ownerId: owner.id,
    name,
    // Wire: nobody has said yet that others may see it.
    isPrivate: true,
    defaultBranch: head.replace(/^refs\/heads\//, ''),
    objectFormat,
    sizeBytes: bytes,
    createdAt: now,
    updatedAt: now,
  })
  if (owner.kind === 'user') await insertWatch(db, owner.id, id)
  await recordFirstRefs(context, row, actor.user)
  await setDefaultBranch(context, row, { created: [], isWhole: true, head })
  await appendEvent(db, { ...subjectOf(row, actor), kind: 'repository.created', payload: payloadOf(row, owner) })
  const subject = { kind: 'repository', id, name: `${owner.name}/${name}` }
  await recordAudit(db, actor, { action: 'repository.adopt', subject, after: { isPrivate: true } })
}

/** @throws Refusal 404 when there is no such folder or owner, and when the name is in use */
export async function deleteUnadopted(context: Context, actor: Actor, folder: UnadoptedFolder): Promise<void> {
  await requireFree(context, folder)
  await git(() => context.git.removeUnadopted(folder))
  const subject = { kind: 'unadopted repository', name: nameOf(folder) }
  await recordAudit(context.db, actor, { action: 'repository.delete_unadopted', subject })
}

async function requireFree({ db }: Context, { owner, name }: UnadoptedFolder): Promise<UserRow> {
  const account = await findAccount(db, owner, undefined)
  if (!account || (await isNameTaken(db, account.row.id, name))) throw notFound()
  return account.row
}

/** A folder that is not there, a link, or a name that leads out of the root are all the same to a client. */
async function git(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    throw isGitError(error, 'not-found') ? notFound() : error
  }
}
