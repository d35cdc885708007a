import type { Git } from '../../git/engine.ts'
import { isGitError } from '../../git/errors.ts'
import type { TreeEntry } from '../../git/model.ts'
import { MAX_NAME, MAX_WORKFLOW_BYTES, MAX_WORKFLOWS } from './limits.ts'

/** Wire: the first of them that exists counts, and the other one does not. */
const FOLDERS = ['.gitea/workflows', '.github/workflows']

export type WorkflowFile =
  | { path: string; text: string; problem?: undefined }
  /** It cannot be read, with a sentence for people. */
  | { path: string; text?: undefined; problem: string }

/** The workflow files of a commit, by name. Folders below are not looked at. */
export async function readWorkflowFiles(git: Git, repositoryId: number, commit: string): Promise<WorkflowFile[]> {
  for (const folder of FOLDERS) {
    if ((await git.findEntry(repositoryId, commit, folder))?.kind !== 'folder') continue
    const { entries } = await git.readTree(repositoryId, {
      revision: commit,
      path: folder,
      withSizes: true,
      limit: MAX_ENTRIES,
    })
    const files: WorkflowFile[] = []
    for (const entry of entries.filter(isWorkflow))
      files.push(await readFile(git, repositoryId, { entry, folder, index: files.length }))
    return files
  }
  return []
}

/** Of the folder, whatever they are. */
const MAX_ENTRIES = 1000

/** A tree of Git may hold longer names than any file system, and than an index. */
const isWorkflow = ({ kind, name }: TreeEntry): boolean =>
  (kind === 'file' || kind === 'executable') && /\.ya?ml$/.test(name) && name.length <= MAX_NAME

async function readFile(
  git: Git,
  repositoryId: number,
  { entry, folder, index }: { entry: TreeEntry; folder: string; index: number },
): Promise<WorkflowFile> {
  const path = `${folder}/${entry.name}`
  if (index >= MAX_WORKFLOWS) return { path, problem: `The repository has more than ${MAX_WORKFLOWS} workflows.` }
  if ((entry.size ?? 0) > MAX_WORKFLOW_BYTES)
    return { path, problem: `The file is longer than ${MAX_WORKFLOW_BYTES} bytes.` }
  try {
    const { bytes } = await git.readBlob(repositoryId, entry.sha, { maxBytes: MAX_WORKFLOW_BYTES })
    return { path, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch (error) {
    if (error instanceof TypeError) return { path, problem: 'The file is not text in UTF-8.' }
    if (isGitError(error, 'not-found'))
      return { path, problem: 'The file is missing in the repository, which is damaged.' }
    throw error
  }
}
