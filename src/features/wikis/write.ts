import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import type { EventKind } from '../../events/catalogue.ts'
import { type GitError, isGitError } from '../../git/errors.ts'
import type { FilesCommit, TreeChange } from '../../git/model.ts'
import { badRequest, conflict, locked, notFound, type Refusal } from '../../kernel/errors.ts'
import type { WikiPage } from '../../wire/wiki.ts'
import { decodeBase64 } from '../contents/changes.ts'
import { commitMutex, commitPatiently } from '../contents/commit.ts'
import { signaturesOf, signFor } from '../contents/signatures.ts'
import { pusherOf, whileIntended } from '../refs/change.ts'
import { openWiki } from './folder.ts'
import { findByTitle, findTip, getByAddress, getWiki, listPageFiles, type PageFile, showPage } from './pages.ts'
import { beginWikiPush, finishWikiPush } from './pushes.ts'
import type { CreateWikiPageOptions } from './schema.ts'
import { fileOf, requireTitle } from './titles.ts'

interface Subject {
  actor: Actor
  repo: RepositoryAccess
}

/** What becomes of the pages as they are now. Asked again when others have changed them meanwhile. */
type Decide = (files: readonly PageFile[]) => Plan

interface Plan {
  change: TreeChange | undefined
  /** Of the commit, where the caller has given none. */
  message: string
  title: string
}

/** @throws Refusal 400 for a title that is taken or cannot be and for content that is no base64, 409 when others keep writing, 423 for a mirror */
export async function createPage(context: Context, subject: Subject, option: CreateWikiPageOptions): Promise<WikiPage> {
  requireChangeable(subject.repo)
  const title = requireTitle(option.title ?? '')
  const content = readContent(option.content_base64 ?? '')
  const folderId = await openWiki(context, subject.repo.repository)
  const decide: Decide = (files) => {
    requireFree(files, title)
    return { change: { op: 'create', path: fileOf(title), content }, message: `Add ${JSON.stringify(title)}`, title }
  }
  const wanted = { folderId, decide, message: option.message, kind: 'wiki.page_created' } as const
  return showTitle(context, subject, { folderId, title: await changeWiki(context, subject, wanted) })
}

/** A page that gets another title is moved. @throws Refusal as `createPage`, 404 for an unknown page */
export async function editPage(
  context: Context,
  subject: Subject,
  { address, option }: { address: string; option: CreateWikiPageOptions },
): Promise<WikiPage> {
  requireChangeable(subject.repo)
  const wanted = option.title?.trim() ? requireTitle(option.title) : undefined
  const content = option.content_base64 === undefined ? undefined : readContent(option.content_base64)
  const { folderId } = await getWiki(context, subject.repo)
  const decide: Decide = (files) => {
    const page = getByAddress(files, address)
    const title = wanted ?? page.title
    const message = `Update ${JSON.stringify(title)}`
    if (title === page.title) {
      const change = content === undefined ? undefined : { op: 'update' as const, path: page.file, content }
      return { change, message, title }
    }
    requireFree(files, title)
    return { change: { op: 'rename', fromPath: page.file, path: fileOf(title), content }, message, title }
  }
  const change = { folderId, decide, message: option.message, kind: 'wiki.page_edited' } as const
  return showTitle(context, subject, { folderId, title: await changeWiki(context, subject, change) })
}

/** @throws Refusal 404, 409 when others keep writing, 423 for a mirror */
export async function deletePage(context: Context, subject: Subject, address: string): Promise<void> {
  requireChangeable(subject.repo)
  const { folderId } = await getWiki(context, subject.repo)
  const decide: Decide = (files) => {
    const { title, file } = getByAddress(files, address, ['file does not exist'])
    return { change: { op: 'delete', path: file }, message: `Delete page ${JSON.stringify(title)}`, title }
  }
  await changeWiki(context, subject, { folderId, decide, message: undefined, kind: 'wiki.page_deleted' })
}

function requireChangeable({ repository, fullName }: RepositoryAccess): void {
  if (repository.isMirror) throw locked(`${fullName} is a mirror`)
}

function requireFree(files: readonly PageFile[], title: string): void {
  const taken = findByTitle(files, title)
  if (taken) throw badRequest(`wiki page already exists [title: ${taken.file}]`)
}

function readContent(base64: string): Uint8Array {
  const content = decodeBase64(base64)
  if (content === undefined) throw badRequest('illegal base64 data in content_base64')
  return content
}

interface Wanted {
  folderId: number
  decide: Decide
  message: string | undefined
  kind: Extract<EventKind, `wiki.${string}`>
}

/** One commit, then what follows from it, as after a push. Returns the title of the page. */
async function changeWiki(context: Context, { actor, repo }: Subject, wanted: Wanted): Promise<string> {
  const { folderId, decide, kind } = wanted
  const { id: repositoryId, ownerId } = repo.repository
  const by = signaturesOf(context, actor.user, {})
  const sign = await signFor(context, actor, by)
  return commitMutex.run(folderId, async () => {
    const begun = await beginWikiPush(context, { repositoryId, folderId, pusherId: actor.user.id, newRefs: 0 })
    if ('fault' in begun) throw conflict(begun.fault)
    const { pushId } = begun
    let title = ''
    let message = ''
    const prepare = async (): Promise<FilesCommit> => {
      const { branch, commit } = await findTip(context, folderId)
      const plan = decide(commit ? await listPageFiles(context, { folderId, commit }) : [])
      title = plan.title
      message = wanted.message?.trim() || plan.message
      const changes = plan.change ? [plan.change] : []
      // Wire: an edit that changes nothing is a commit all the same.
      return { branch, expectedHead: commit?.sha, changes, ...by, sign, message, allowEmpty: true }
    }
    const call = { pusher: pusherOf(actor.user, repo) }
    await whileIntended(context.db, pushId, () => commitPatiently(context.git, folderId, prepare, call)).catch(refuse)
    // Wire: nothing is said of a page that is gone.
    const payload = { title, comment: kind === 'wiki.page_deleted' ? '' : message }
    const event = { kind, payload, actorId: actor.user.id, repositoryId, ownerId }
    await finishWikiPush(context, { repositoryId, folderId, pushId, event })
    return title
  })
}

function refuse(error: unknown): never {
  throw (isGitError(error) && refusalOf(error)) || error
}

function refusalOf({ code, kind, subject = '' }: GitError): Refusal | undefined {
  switch (code) {
    case 'path-exists':
    case 'path-not-file':
    case 'path-parent-not-folder':
      return badRequest(`wiki page already exists [title: ${subject}]`)
    case 'head-moved':
    case 'branch-exists':
      return conflict('the wiki keeps moving, try again')
    default:
      return kind === 'not-found' ? notFound() : undefined
  }
}

/** @throws Refusal 404 where somebody else has removed it already */
async function showTitle(
  context: Context,
  { repo }: Subject,
  { folderId, title }: { folderId: number; title: string },
): Promise<WikiPage> {
  const { commit } = await findTip(context, folderId)
  if (!commit) throw notFound()
  const wiki = { folderId, commit }
  const files = await listPageFiles(context, wiki)
  const page = findByTitle(files, title)
  if (!page) throw notFound()
  return showPage(context, repo, { wiki, files, page })
}
