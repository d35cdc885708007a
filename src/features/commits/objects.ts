import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Context } from '../../context.ts'
import { isGitError } from '../../git/errors.ts'
import type { ObjectName, Ref, Tag, TreeEntry } from '../../git/model.ts'
import { badRequest, notFound } from '../../kernel/errors.ts'
import type { Page } from '../../kernel/page.ts'

/** Wire: what is asked for by id and is not there is a bad request here, not a missing thing. */
const unknown = (sha: string) => badRequest(`sha not found [${sha}]`)

export interface TreePage {
  /** Of the commit where one was named. */
  sha: string
  entries: TreeEntry[]
  total: number
  isTruncated: boolean
}

/** @throws Refusal 400 for what is no tree and no commit */
async function getObject(context: Context, { repository }: RepositoryAccess, name: string): Promise<Root> {
  const { git } = context
  const found = await git.find(repository.id, name)
  if (!found) throw unknown(name)
  if (found.type !== 'tag') return found
  const sha = await git.findCommit(repository.id, found.sha)
  if (sha === undefined) throw unknown(name)
  return { sha, type: 'commit' }
}

/** What a tree is read from: its own id, or that of the commit that was named. */
type Root = Pick<ObjectName, 'sha' | 'type'>

/**
 * A tree by the name of an object, or a folder of a revision as Git writes it: `main:docs`, which editors of websites ask for.
 * @throws Refusal 400
 */
export async function getTree(context: Context, repo: RepositoryAccess, name: string): Promise<Root> {
  const colon = name.indexOf(':')
  if (colon === -1) return getObject(context, repo, name)
  const root = await getObject(context, repo, name.slice(0, colon))
  if (root.type === 'blob') throw unknown(name)
  const path = name.slice(colon + 1).replace(/^\/+|\/+$/g, '')
  const entry = await context.git.findEntry(repo.repository.id, root.sha, path)
  if (entry?.kind !== 'folder') throw unknown(name)
  return { sha: entry.sha, type: 'tree' }
}

/** Sizes are looked up for the page alone: they cost more than the names. */
export async function readTreePage(
  { git }: Context,
  { repository }: RepositoryAccess,
  { object, isRecursive, page }: { object: Root; isRecursive: boolean; page: Page },
): Promise<TreePage> {
  if (object.type === 'blob') throw unknown(object.sha)
  const { id } = repository
  const tree = await git.readTree(id, { revision: object.sha, isRecursive })
  const entries = tree.entries.slice(page.offset, page.offset + page.limit)
  const blobs = entries.filter(({ kind }) => kind !== 'folder' && kind !== 'submodule').map(({ sha }) => sha)
  const sizes = await git.sizes(id, [...new Set(blobs)])
  return {
    sha: object.sha,
    entries: entries.map((entry) => ({ ...entry, size: sizes.get(entry.sha)?.size })),
    total: tree.entries.length,
    isTruncated: tree.isTruncated || page.offset + entries.length < tree.entries.length,
  }
}

/** Refs whose name below `refs/` begins with the text, by name. @throws Refusal 404 when there is none */
export async function listGitRefs(
  { git }: Context,
  { repository }: RepositoryAccess,
  beginning: string,
): Promise<Ref[]> {
  const wanted = `refs/${beginning}`
  const prefix = wanted.slice(0, wanted.lastIndexOf('/') + 1)
  const refs = await git.listRefs(repository.id, { prefix }).catch((error: unknown) => {
    if (isGitError(error) && error.code === 'ref-name') throw notFound()
    throw error
  })
  const found = refs.filter(({ name }) => name.startsWith(wanted) && !name.startsWith('refs/hidden/'))
  if (found.length === 0) throw notFound()
  return found
}

/** @throws Refusal 400 for what is no annotated tag */
export async function getAnnotatedTag({ git }: Context, { repository }: RepositoryAccess, sha: string): Promise<Tag> {
  try {
    return await git.readTag(repository.id, sha)
  } catch (error) {
    if (isGitError(error, 'not-found') && error.code !== 'repository') throw unknown(sha)
    if (isGitError(error, 'invalid')) throw unknown(sha)
    throw error
  }
}
