import type { Context } from '../context.ts'
import type { StoredEvent } from '../events/catalogue.ts'
import { parseRef } from '../features/refs/names.ts'
import { findNamesByEmail } from '../features/refs/people.ts'
import { isGitError } from '../git/errors.ts'
import type { FileChange, LoggedCommit } from '../git/model.ts'
import { wireTime } from '../kernel/time.ts'
import {
  MAX_PUSH_COMMITS,
  presentCreatePayload,
  presentDeletePayload,
  presentPushPayload,
} from '../wire/hook-payload.ts'
import type { HookCommit, HookCommon } from '../wire/hook-schema.ts'
import type { Repository } from '../wire/repository.ts'
import { showCommon } from './common.ts'
import type { News } from './news.ts'

const isZero = (sha: string): boolean => /^0+$/.test(sha)

const subjectOf = (repositoryId: number | null, ref: string): string => `ref:${repositoryId}:${ref}`

export async function newsOfRef(
  context: Context,
  event: StoredEvent<'ref.created' | 'ref.deleted'>,
  type: 'create' | 'delete',
): Promise<News[]> {
  const { ref, sha } = event.payload
  const [name, common] = [parseRef(ref), await showCommon(context, event)]
  if (!name || !common) return []
  const facts = { ref: name.name, refType: name.kind, sha }
  const message =
    type === 'create'
      ? { type, payload: presentCreatePayload(common, facts) }
      : { type, payload: presentDeletePayload(common, facts) }
  return [{ event: message, subject: subjectOf(event.repositoryId, ref), ref }]
}

/** Wire: a branch that is gone is only reported as deleted; a tag that is gone is a push as well. */
export async function newsOfPush(context: Context, event: StoredEvent<'push'>): Promise<News[]> {
  const { repositoryId, payload } = event
  const { ref, oldSha, newSha } = payload
  const name = parseRef(ref)
  if (!name || repositoryId === null || (name.kind === 'branch' && isZero(newSha))) return []
  const common = await showCommon(context, event)
  if (!common) return []
  const shas = (payload.commits ?? []).slice(0, MAX_PUSH_COMMITS).map(({ sha }) => sha)
  const head = isZero(newSha) ? undefined : newSha
  const commits = await readHookCommits(
    context,
    common.repository,
    head === undefined ? shas : [...new Set([...shas, head])],
  )
  const facts = {
    ref,
    before: oldSha,
    after: newSha,
    commits: shas.flatMap((sha) => commits.get(sha) ?? []),
    totalCommits: payload.commitsCount,
    headCommit: (head !== undefined && commits.get(head)) || null,
    compareFrom: await compareFrom(context, event, common),
  }
  return [
    { event: { type: 'push', payload: presentPushPayload(common, facts) }, subject: subjectOf(repositoryId, ref), ref },
  ]
}

/** A new branch is compared with the commit that it leaves the default branch at, or with that branch where nothing is new. */
async function compareFrom(
  { git }: Context,
  { repositoryId, payload }: StoredEvent<'push'>,
  { repository }: HookCommon,
): Promise<string | undefined> {
  const { ref, oldSha, newSha, commitsCount } = payload
  if (isZero(newSha) || repositoryId === null) return undefined
  if (!isZero(oldSha)) return oldSha
  const base = repository.default_branch
  if (parseRef(ref)?.kind !== 'branch' || ref === `refs/heads/${base}`) return undefined
  if (commitsCount === 0) return base
  try {
    return (await git.mergeBase(repositoryId, newSha, `refs/heads/${base}`)) ?? base
  } catch (error) {
    // Objects and the default branch may be gone by now.
    if (isGitError(error, 'not-found')) return base
    throw error
  }
}

/** By id. An object that is no commit, such as what a tag may name, and one that is gone are left out. */
export async function readHookCommits(
  context: Context,
  repository: Repository,
  shas: readonly string[],
): Promise<Map<string, HookCommit>> {
  const found: LoggedCommit[] = []
  for (const sha of shas) found.push(...(await readCommit(context, repository.id, sha)))
  const addresses = found.flatMap(({ author, committer }) => [author.email, committer.email])
  const names = await findNamesByEmail(context.db, addresses)
  const present = (commit: LoggedCommit): HookCommit => presentCommit(commit, { htmlUrl: repository.html_url, names })
  return new Map(
    found.map((commit, index) => [shas.includes(commit.sha) ? commit.sha : (shas[index] ?? ''), present(commit)]),
  )
}

/** Without its files where these are too many to be compared: hooks are told of every push. */
async function readCommit({ git }: Context, repositoryId: number, revision: string): Promise<LoggedCommit[]> {
  const query = { revision, limit: 1 }
  try {
    return await git.log(repositoryId, { ...query, withChanges: true })
  } catch (error) {
    if (isGitError(error, 'not-found')) return []
    if (isGitError(error, 'too-large') || isGitError(error, 'timeout')) return git.log(repositoryId, query)
    throw error
  }
}

function presentCommit(
  { sha, message, author, committer, changes }: LoggedCommit,
  { htmlUrl, names }: { htmlUrl: string; names: ReadonlyMap<string, string> },
): HookCommit {
  const person = ({ name, email }: { name: string; email: string }) => ({
    name,
    email,
    username: names.get(email.toLowerCase()) ?? '',
  })
  const files = changes?.files ?? []
  const paths = (...states: FileChange['status'][]) =>
    files.filter(({ status }) => states.includes(status)).map(({ path }) => path)
  const left = files.flatMap(({ status, previousPath }) => (status === 'renamed' ? (previousPath ?? []) : []))
  return {
    id: sha,
    message,
    url: `${htmlUrl}/commit/${sha}`,
    author: person(author),
    committer: person(committer),
    verification: null,
    // Wire: the time of the author.
    timestamp: wireTime(author.date),
    added: [...paths('added', 'copied', 'renamed')],
    removed: [...paths('deleted'), ...left],
    modified: paths('modified', 'type-changed'),
  }
}
