import { GitError } from '../../errors.ts'
import type { Call, Commit, ObjectName } from '../../model.ts'
import { isValidRefName, revisionCandidates } from '../../names.ts'
import { parseCommit } from '../../objects.ts'
import type { Answer } from '../objects/batch.ts'
import type { Store } from '../store.ts'

/** Commits and tags above this are shown as missing: git itself would read them whole. */
const MAX_COMMIT_BYTES = 4 * 1024 * 1024

/**
 * Everything a client names goes through here and becomes an id; command lines of git carry only ids, options of ours, and paths
 * behind `--`.
 */
export async function findObject(
  store: Store,
  id: number,
  revision: string,
  call?: Call,
): Promise<ObjectName | undefined> {
  const names = revisionCandidates(revision)
  if (!names) return undefined
  const answers = await store.readers.ask(
    id,
    names.map((name) => ({ verb: 'info' as const, name })),
    call,
  )
  const found = answers.find((answer) => answer.kind === 'object')
  return found?.kind === 'object' ? { sha: found.sha, type: found.type, size: found.size } : undefined
}

export async function resolveObject(store: Store, id: number, revision: string, call?: Call): Promise<ObjectName> {
  const found = await findObject(store, id, revision, call)
  if (found) return found
  if (!revisionCandidates(revision))
    throw new GitError('invalid', 'revision-syntax', 'not a revision', { subject: revision })
  throw new GitError('not-found', 'revision', 'no such revision', { subject: revision })
}

export const findCommit = async (
  store: Store,
  id: number,
  revision: string,
  call?: Call,
): Promise<string | undefined> => (await findObject(store, id, `${revision}^{commit}`, call))?.sha

/** The id of the commit behind a revision, through tags. */
export async function resolveCommit(store: Store, id: number, revision: string, call?: Call): Promise<string> {
  const found = await resolveObject(store, id, revision, call)
  if (found.type === 'commit') return found.sha
  if (found.type === 'tag') return (await resolveObject(store, id, `${found.sha}^{commit}`, call)).sha
  throw new GitError('not-found', 'revision', `a ${found.type} is no commit`, { subject: revision })
}

export async function readCommit(store: Store, id: number, revision: string, call?: Call): Promise<Commit> {
  const sha = await resolveCommit(store, id, revision, call)
  const commit = (await readCommits(store, id, [sha], call)).get(sha)
  if (commit) return commit
  throw new GitError('not-found', 'revision', 'no such commit', { subject: revision })
}

export async function findBranch(store: Store, id: number, name: string, call?: Call): Promise<Commit | undefined> {
  if (!isValidRefName(`refs/heads/${name}`)) return undefined
  const [answer] = await store.readers.ask(
    id,
    [{ verb: 'contents', name: `refs/heads/${name}`, maxBytes: MAX_COMMIT_BYTES }],
    call,
  )
  return commitOf(answer)
}

export async function readCommits(store: Store, id: number, shas: string[], call?: Call): Promise<Map<string, Commit>> {
  const questions = shas.map((name) => ({ verb: 'contents' as const, name, maxBytes: MAX_COMMIT_BYTES }))
  const answers = await store.readers.ask(id, questions, call)
  return new Map(answers.flatMap((answer) => commitOf(answer) ?? []).map((commit) => [commit.sha, commit]))
}

function commitOf(answer: Answer | undefined): Commit | undefined {
  if (answer?.kind !== 'object' || answer.type !== 'commit' || !answer.content) return undefined
  return parseCommit(answer.sha, answer.content)
}
