import { GitError } from '../../errors.ts'
import type { Call } from '../../model.ts'
import { startGit } from '../process/process.ts'
import { resolveCommit } from '../refs/revisions.ts'
import { requireFolder, type Store } from '../store.ts'

/** A page of files is worth this long; then it is shown with what was found. */
const MAX_MS = 3000

const LOG = ['log', '-z', '--format=tformat:%x01%H', '--name-only', '--no-renames', '-c']

export interface LastCommitsQuery {
  revision: string
  folder: string
  names: string[]
}

/**
 * One walk from the newest commit, ended when each name was seen. `-c` names the files that a merge made different from all of its
 * parents. Between the same ids the answer never changes, so it is cached unless the time was over.
 */
export async function lastCommits(
  store: Store,
  id: number,
  query: LastCommitsQuery,
  call?: Call,
): Promise<Map<string, string>> {
  if (query.names.length === 0) return new Map()
  const head = await resolveCommit(store, id, query.revision, call)
  const question = [head, query.folder, ...query.names].join('\0')
  let isWhole = true
  const found = await store.lastCommits.get(id, question, async () => {
    const walked = await walk(store, id, { ...query, head }, call)
    isWhole = walked.isWhole
    return walked.found
  })
  if (!isWhole) store.lastCommits.drop(id, question)
  return found
}

async function walk(
  store: Store,
  id: number,
  query: LastCommitsQuery & { head: string },
  call?: Call,
): Promise<{ found: Map<string, string>; isWhole: boolean }> {
  const { head, folder, names } = query
  const [only] = names
  const path = names.length === 1 && only !== undefined ? join(folder, only) : folder
  if (path.includes('\0')) throw new GitError('invalid', 'path-syntax', 'a path without NUL is needed')
  const repository = await requireFolder(store.runner.root, id)
  const limited = { ...call, timeoutMs: Math.min(call?.timeoutMs ?? MAX_MS, MAX_MS) }
  const args = [...LOG, '--end-of-options', head, '--', ...(path ? [path] : [])]
  const child = await startGit(store.runner, { args, folder: repository, call: limited, memory: 'some' })
  const found = new Map<string, string>()
  const wanted = new Set(names)
  let rest = ''
  let commit = ''
  for await (const chunk of child.stdout) {
    const fields = (rest + Buffer.from(chunk).toString('latin1')).split('\0')
    rest = fields.pop() ?? ''
    for (const field of fields) {
      const header = HEADER.exec(field)
      if (header) commit = header[1] ?? ''
      else note(field, folder, { wanted, found, commit })
    }
    if (wanted.size === 0) child.stop(new GitError('aborted', 'aborted', 'all names are found'))
    if (wanted.size === 0) break
  }
  const { stopped } = await child.exited
  if (stopped && wanted.size > 0 && call?.signal?.aborted) throw stopped
  return { found, isWhole: wanted.size === 0 || !stopped }
}

/** A path cannot be taken for one: it would need this control character and the right number of digits. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: chosen because paths hardly ever hold it
const HEADER = /^\n?\x01([0-9a-f]{40}|[0-9a-f]{64})$/

const join = (folder: string, name: string) => (folder === '' ? name : `${folder}/${name}`)

function note(
  field: string,
  folder: string,
  state: { wanted: Set<string>; found: Map<string, string>; commit: string },
): void {
  const path = Buffer.from(field.replace(/^\n/, ''), 'latin1').toString()
  const inner = folder === '' ? path : path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : ''
  const [name = ''] = inner.split('/', 1)
  if (state.wanted.delete(name)) state.found.set(name, state.commit)
}
