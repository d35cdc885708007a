import { setImmediate } from 'node:timers/promises'
import type { RepositoryRow } from '../../../db/schema/repositories.ts'
import type { Context } from '../../context.ts'
import { isGitError } from '../../git/errors.ts'
import type { TreeEntry } from '../../git/model.ts'
import { DEFAULT_CONFIG, type ReadConfig, readConfig } from './config.ts'
import type { IssueTemplate } from './schema.ts'
import { readTemplate } from './template.ts'

/** Wire: where the Gitea API looks, in this order. */
const FOLDERS = ['', '.gitea/', '.github/', '.gitlab/'].flatMap((place) => [
  `${place}ISSUE_TEMPLATE`,
  `${place}issue_template`,
])
const CONFIGS = FOLDERS.filter((folder) => /^\.git(ea|hub)/.test(folder)).flatMap((folder) => [
  `${folder}/config.yaml`,
  `${folder}/config.yml`,
])
/** Longer files are passed over: they are read by whoever opens the page of new issues. */
const MAX_FILE_BYTES = 32 * 1024
const MAX_FILES = 50

/** The templates on the default branch that can be used. */
export async function listIssueTemplates(context: Context, repository: RepositoryRow): Promise<IssueTemplate[]> {
  const commit = await findTip(context, repository)
  if (commit === undefined) return []
  const found: IssueTemplate[] = []
  for (const { path, sha } of await listFiles(context, repository.id, commit)) {
    const template = readTemplate(path, await readText(context, repository.id, sha))
    if (template) found.push(template)
    // Others are served between two files.
    await setImmediate()
  }
  return found
}

/** The first of the places that has a file counts. */
export async function readIssueConfig(context: Context, repository: RepositoryRow): Promise<ReadConfig> {
  const commit = await findTip(context, repository)
  if (commit === undefined) return { config: DEFAULT_CONFIG }
  for (const path of CONFIGS) {
    const entry = await context.git.findEntry(repository.id, commit, path)
    if (!entry || !isFile(entry)) continue
    const size = (await context.git.sizes(repository.id, [entry.sha])).get(entry.sha)?.size ?? 0
    if (size > MAX_FILE_BYTES) return { fault: `the file is longer than ${MAX_FILE_BYTES} bytes` }
    return readConfig(await readText(context, repository.id, entry.sha))
  }
  return { config: DEFAULT_CONFIG }
}

async function findTip({ git }: Context, { id, defaultBranch, isEmpty }: RepositoryRow): Promise<string | undefined> {
  return isEmpty ? undefined : (await git.findBranch(id, defaultBranch))?.sha
}

const isFile = ({ kind }: TreeEntry): boolean => kind === 'file' || kind === 'executable'

async function listFiles({ git }: Context, id: number, commit: string): Promise<TreeEntry[]> {
  const files: TreeEntry[] = []
  for (const path of FOLDERS) {
    if ((await git.findEntry(id, commit, path))?.kind !== 'folder') continue
    const { entries } = await git.readTree(id, { revision: commit, path, withSizes: true, limit: 1000 })
    files.push(...entries.filter((entry) => isFile(entry) && isTemplateName(entry.name)))
  }
  return files.filter(({ size = 0 }) => size <= MAX_FILE_BYTES).slice(0, MAX_FILES)
}

const isTemplateName = (name: string): boolean => /\.(md|ya?ml)$/.test(name) && !/^config\.ya?ml$/.test(name)

async function readText({ git }: Context, id: number, sha: string): Promise<string> {
  try {
    return new TextDecoder().decode((await git.readBlob(id, sha, { maxBytes: MAX_FILE_BYTES })).bytes)
  } catch (error) {
    // A damaged repository may lack it. An empty text is no template.
    if (isGitError(error, 'not-found')) return ''
    throw error
  }
}
