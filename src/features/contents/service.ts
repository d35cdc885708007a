import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Context } from '../../context.ts'
import type { TreeEntry } from '../../git/model.ts'
import { notFound } from '../../kernel/errors.ts'
import { type ContentsResponse, presentContents } from '../../wire/contents.ts'
import { MAX_BLOB_BYTES, MAX_RESPONSE_BYTES } from '../../wire/limits.ts'
import { getNamedRevision, type Revision, webPathOf } from '../commits/revision.ts'
import { type Ground, loadEntries, type Parts } from './load.ts'

/** What a path names, with the revision it was looked up in. */
export interface Place {
  repo: RepositoryAccess
  revision: Revision
  /** Without slashes at its ends; '' is the root. */
  path: string
  entry: TreeEntry
  /** What the client called the revision. */
  ref: string
}

/** @throws Refusal 404 for an unknown revision or path */
export async function getPlace(
  context: Context,
  repo: RepositoryAccess,
  asked: { path: string; ref: string | undefined },
): Promise<Place> {
  const revision = await getNamedRevision(context, repo, asked.ref)
  const path = asked.path.replace(/^\/+|\/+$/g, '')
  const entry = await context.git.findEntry(repo.repository.id, revision.commit.tree, path)
  if (!entry) throw notFound('not found', [`object does not exist [id: , rel_path: ${path}]`])
  return { repo, revision, path, entry, ref: asked.ref ?? revision.name }
}

/** Wire: of a folder the entries are listed, without their content. */
export async function readContents(
  context: Context,
  place: Place,
  { parts, signal }: { parts: Parts; signal: AbortSignal },
): Promise<ContentsResponse | ContentsResponse[]> {
  const ground = { ...groundOf(context, place), signal }
  if (place.entry.kind === 'folder') {
    const { id } = place.repo.repository
    const query = { revision: place.revision.commit.tree, path: place.path, withSizes: true }
    const { entries } = await context.git.readTree(id, query, { signal })
    return present(place, await loadEntries(ground, entries, { ...parts, withContent: false, withLargeFile: false }))
  }
  const [entry] = await withSizes(ground, [place.entry])
  const [only] = present(place, await loadEntries(ground, entry ? [entry] : [], parts))
  if (!only) throw new Error('one entry gives one answer')
  return only
}

/** Several files or folders at once; null for what is not there. Content is left out when all together is too long. */
export async function readFiles(
  context: Context,
  place: Pick<Place, 'repo' | 'revision' | 'ref'>,
  { paths, ...rest }: { paths: readonly string[] } & Pick<Ground, 'signal' | 'isJustWritten'>,
): Promise<(ContentsResponse | null)[]> {
  const { git } = context
  const ground = { git, repositoryId: place.repo.repository.id, commit: place.revision.commit, ...rest }
  const files = new Map<string, ContentsResponse>()
  let bytes = 0
  for (const entries of await findByFolder(ground, paths)) {
    const isWithin = ({ size = 0 }: TreeEntry): boolean => {
      // What is too long by itself has no content in the answer anyway.
      if (size <= MAX_BLOB_BYTES) bytes += size
      return bytes <= MAX_RESPONSE_BYTES
    }
    for (const [withContent, some] of Map.groupBy(entries, isWithin)) {
      const parts = { withContent, withLargeFile: withContent, withLastCommit: true, withMessage: false }
      for (const file of present(place, await loadEntries(ground, some, parts))) files.set(file.path, file)
    }
  }
  return paths.map((path) => files.get(path) ?? null)
}

/** Each folder is read once, whatever the number of its files. */
async function findByFolder(ground: Ground, paths: readonly string[]): Promise<TreeEntry[][]> {
  const { git, repositoryId, commit, signal } = ground
  const found: TreeEntry[][] = []
  for (const [folder, inside] of Map.groupBy(new Set(paths), folderOf)) {
    const entry = await git.findEntry(repositoryId, commit.tree, folder)
    if (entry?.kind !== 'folder') continue
    const tree = await git.readTree(repositoryId, { revision: entry.sha }, { signal })
    const wanted = new Set(inside.map((path) => path.slice(folder === '' ? 0 : folder.length + 1)))
    const named = tree.entries.filter(({ name }) => wanted.has(name))
    const whole = named.map((entry) => ({ ...entry, path: folder === '' ? entry.name : `${folder}/${entry.name}` }))
    found.push(await withSizes(ground, whole))
  }
  return found
}

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))

const groundOf = ({ git }: Context, { repo, revision }: Place): Ground => ({
  git,
  repositoryId: repo.repository.id,
  commit: revision.commit,
})

async function withSizes({ git, repositoryId }: Ground, entries: readonly TreeEntry[]): Promise<TreeEntry[]> {
  const blobs = entries.filter(({ kind }) => kind !== 'folder' && kind !== 'submodule')
  const sizes = await git.sizes(
    repositoryId,
    blobs.map(({ sha }) => sha),
  )
  return entries.map((entry) => ({ ...entry, size: sizes.get(entry.sha)?.size }))
}

function present(
  { repo, revision, ref }: Pick<Place, 'repo' | 'revision' | 'ref'>,
  entries: Awaited<ReturnType<typeof loadEntries>>,
): ContentsResponse[] {
  const place = { apiUrl: repo.apiUrl, htmlUrl: repo.htmlUrl, ref, webPath: webPathOf(revision) }
  return entries.map((entry) => presentContents(entry, place))
}
