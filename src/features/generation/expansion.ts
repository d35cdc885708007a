import type { Git } from '../../git/engine.ts'
import type { TreeChange, TreeEntry } from '../../git/model.ts'
import { isSubmoduleFile, pathProblem } from '../../git/paths.ts'
import { invalid } from '../../kernel/errors.ts'
import { type Glob, GlobError, parseGlob } from '../../kernel/glob.ts'
import { expand, fileNamePart, type Variables } from './variables.ts'

/** Names, by globs, the files in which variables are expanded. It is not copied itself. */
const TEMPLATE_FILE = '.gitea/template'
const MAX_TEMPLATE_BYTES = 64 * 1024
const MAX_GLOBS = 100
/** Files in which variables are expanded, and their bytes together: they are held in memory. */
const MAX_FILES = 1000
const MAX_BYTES = 16 * 1024 * 1024
const MAX_TREE = 100_000

interface Template {
  repositoryId: number
  /** Of the default branch. */
  commit: string
}

/**
 * What a generated repository changes in the files of its template.
 * @throws Refusal 422 where too much would have to be expanded
 */
export async function findExpansions(git: Git, template: Template, variables: Variables): Promise<TreeChange[]> {
  const { repositoryId, commit } = template
  const entry = await git.findEntry(repositoryId, commit, TEMPLATE_FILE)
  if (entry?.kind !== 'file' && entry?.kind !== 'executable') return []
  const list = await git.readBlob(repositoryId, entry.sha, { maxBytes: MAX_TEMPLATE_BYTES })
  const globs = readGlobs(new TextDecoder().decode(list.bytes))
  const tree = await git.readTree(repositoryId, {
    revision: commit,
    isRecursive: true,
    withSizes: globs.length > 0,
    limit: MAX_TREE,
  })
  const paths = new Set(tree.entries.map(({ path }) => path))
  const wanted = chooseFiles(tree.entries, globs)
  const changes: TreeChange[] = [{ op: 'delete', path: TEMPLATE_FILE }]
  for (const { path, sha } of wanted) {
    const { bytes } = await git.readBlob(repositoryId, sha, { maxBytes: MAX_BYTES })
    const change = expandFile({ path, bytes }, variables, paths)
    if (change) changes.push(change)
  }
  return changes
}

/** One a line; empty lines and those that begin with `#` say nothing, and neither does what is no glob. */
export function readGlobs(text: string): Glob[] {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
  if (lines.length > MAX_GLOBS) throw invalid(`${TEMPLATE_FILE} may have ${MAX_GLOBS} lines`)
  return lines.flatMap((line) => {
    try {
      return parseGlob(line, '/')
    } catch (error) {
      if (error instanceof GlobError) return []
      throw error
    }
  })
}

function chooseFiles(entries: readonly TreeEntry[], globs: readonly Glob[]): TreeEntry[] {
  const files = entries.filter(
    ({ kind, path }) =>
      (kind === 'file' || kind === 'executable') &&
      path !== TEMPLATE_FILE &&
      // What names other repositories is checked when it is pushed, and stays as it was.
      !isSubmoduleFile(path) &&
      globs.some((glob) => glob.matches(path)),
  )
  const bytes = files.reduce((sum, { size = 0 }) => sum + size, 0)
  if (files.length > MAX_FILES || bytes > MAX_BYTES)
    throw invalid(`variables are expanded in ${MAX_FILES} files of ${MAX_BYTES} bytes together at most`)
  return files
}

/** A name that cannot be, or that another file has, stays as it was. */
function expandFile(
  { path, bytes }: { path: string; bytes: Uint8Array },
  variables: Variables,
  taken: Set<string>,
): TreeChange | undefined {
  // A byte for each character: what is no text comes back as it was.
  const before = Buffer.from(bytes).toString('latin1')
  const after = expand(before, variables, (value) => Buffer.from(value).toString('latin1'))
  const name = expand(path, variables, fileNamePart)
  const isFree = pathProblem(name) === undefined && !taken.has(name) && !isSubmoduleFile(name)
  const newPath = isFree ? name : path
  if (newPath === path && after === before) return undefined
  taken.add(newPath)
  return { op: 'rename', fromPath: path, path: newPath, content: Buffer.from(after, 'latin1') }
}
