import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Context } from '../../context.ts'
import type { Call, Commit, TreeEntry } from '../../git/model.ts'
import { notFound } from '../../kernel/errors.ts'
import type { Page } from '../../kernel/page.ts'
import { MAX_BLOB_BYTES } from '../../wire/limits.ts'
import type { WikiPage, WikiPageMetaData } from '../../wire/wiki.ts'
import { presentWikiPage, presentWikiPageMetaData } from '../../wire/wiki.ts'
import { readBase64 } from '../commits/blobs.ts'
import { settleBranch } from './folder.ts'
import { findWiki } from './store.ts'
import { addressOf, fileOf, readAddress, titleOf } from './titles.ts'

/** A file that is a page. */
export interface PageFile {
  title: string
  file: string
  sha: string
}

/** A wiki as it is at one commit. */
export interface Wiki {
  folderId: number
  commit: Commit
}

/** @throws Refusal 404 as long as there is no page */
export async function getWiki(context: Context, { repository }: RepositoryAccess): Promise<Wiki> {
  const folderId = await findWiki(context.db, repository.id)
  const { commit } = folderId === undefined ? {} : await findTip(context, folderId)
  // Wire: clients know by these words that the wiki is empty.
  if (folderId === undefined || !commit) throw notFound('not found', ['no such file or directory'])
  return { folderId, commit }
}

/** The branch that has the pages, and its newest commit where there is one. */
export async function findTip({ git }: Context, folderId: number): Promise<{ branch: string; commit?: Commit }> {
  const branch = await settleBranch({ git }, folderId)
  return { branch, commit: await git.findBranch(folderId, branch) }
}

/** In Git's order. Wire: files in folders, links and other kinds of files are no pages. */
export async function listPageFiles({ git }: Context, wiki: Wiki, call?: Call): Promise<PageFile[]> {
  const { entries } = await git.readTree(wiki.folderId, { revision: wiki.commit.sha }, call)
  return entries.flatMap(readPageFile)
}

function readPageFile({ kind, name: file, sha }: TreeEntry): PageFile[] {
  const title = kind === 'file' || kind === 'executable' ? titleOf(file) : undefined
  return title === undefined ? [] : [{ title, file, sha }]
}

/** The file that the service itself would write comes first: a push may bring two for one title. */
export function findByTitle(files: readonly PageFile[], title: string): PageFile | undefined {
  const same = files.filter((page) => page.title === title)
  return same.find(({ file }) => file === fileOf(title)) ?? same[0]
}

/** @throws Refusal 404 */
export function getByAddress(files: readonly PageFile[], address: string, errors: string[] | null = null): PageFile {
  for (const { title, file } of readAddress(address)) {
    const found = title === undefined ? files.find((page) => page.file === file) : findByTitle(files, title)
    if (found) return found
  }
  throw notFound('not found', errors)
}

/** The page with all that is shown beside it. */
export async function showPage(
  context: Context,
  repo: RepositoryAccess,
  { wiki, files, page, call }: { wiki: Wiki; files: readonly PageFile[]; page: PageFile; call?: Call },
): Promise<WikiPage> {
  const contentOf = (title: string) => readContent(context, wiki, findByTitle(files, title), call)
  const [content, sidebar, footer, commits, commitCount] = await Promise.all([
    readContent(context, wiki, page, call),
    contentOf('_Sidebar'),
    contentOf('_Footer'),
    readLastCommits(context, wiki, [page], call),
    countRevisions(context, wiki, page, call),
  ])
  const lastCommit = commits.get(page.file) ?? wiki.commit
  const { title } = page
  return presentWikiPage({ title, address: addressOf(title), lastCommit, content, sidebar, footer, commitCount }, repo)
}

export async function showPages(
  context: Context,
  repo: RepositoryAccess,
  { wiki, files, call }: { wiki: Wiki; files: readonly PageFile[]; call?: Call },
): Promise<WikiPageMetaData[]> {
  const commits = await readLastCommits(context, wiki, files, call)
  return files.map(({ title, file }) =>
    presentWikiPageMetaData({ title, address: addressOf(title), lastCommit: commits.get(file) ?? wiki.commit }, repo),
  )
}

/** Wire: the history of a page begins with its name. */
export const countRevisions = ({ git }: Context, { folderId, commit }: Wiki, { file }: PageFile, call?: Call) =>
  git.countCommits(folderId, { revision: commit.sha, path: file }, call)

export const listRevisions = (
  { git }: Context,
  { folderId, commit }: Wiki,
  { page: { file }, range, call }: { page: PageFile; range: Page; call?: Call },
): Promise<Commit[]> =>
  git.log(folderId, { revision: commit.sha, path: file, skip: range.offset, limit: range.limit }, call)

/** Wire: what is too long for an answer has its name only. */
async function readContent(
  { git }: Context,
  { folderId }: Wiki,
  page: PageFile | undefined,
  call?: Call,
): Promise<string> {
  if (!page) return ''
  const size = (await git.sizes(folderId, [page.sha], call)).get(page.sha)?.size ?? 0
  if (size > MAX_BLOB_BYTES) return ''
  return readBase64((await git.readBlob(folderId, page.sha, { maxBytes: MAX_BLOB_BYTES }, call)).bytes)
}

/** By file. Where the walk through the history took too long, the newest commit of all stands for the unknown one. */
async function readLastCommits(
  { git }: Context,
  { folderId, commit }: Wiki,
  files: readonly PageFile[],
  call?: Call,
): Promise<Map<string, Commit>> {
  const names = files.map(({ file }) => file)
  const shas = await git.lastCommits(folderId, { revision: commit.sha, folder: '', names }, call)
  const known = await git.readCommits(folderId, [...new Set(shas.values())], call)
  return new Map(
    names.flatMap((name) => {
      const found = known.get(shas.get(name) ?? '')
      return found ? [[name, found] as const] : []
    }),
  )
}
