import { Elysia, t } from 'elysia'
import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import type { LoggedCommit } from '../../git/model.ts'
import { Unchanged, unchangedAnswer } from '../../http/answers.ts'
import { gate } from '../../http/gate.ts'
import { gitClient } from '../../http/git-gate.ts'
import { paging } from '../../http/paging.ts'
import { pageQuery, queryBoolean, queryInstant, queryText } from '../../http/query.ts'
import { decodeWildcard } from '../../http/wildcard.ts'
import { Commit, Compare, Note } from '../../wire/commit.ts'
import { compare } from './compare.ts'
import { diffText } from './diff.ts'
import { getNote } from './notes.ts'
import { writeOldPageHeaders } from './old-page-headers.ts'
import { type CommitParts, findPeople, needsChanges, partsOf, presentCommits } from './present.ts'
import { getCommit, getNamedCommit, listCommits, orNotFound } from './service.ts'

const read = { unit: 'repo.code', scope: 'repository' } as const

const parts = {
  stat: queryBoolean({ description: 'Whether to count changed lines; true without it' }),
  verification: queryBoolean({ description: 'Whether to tell of the signature; true without it' }),
  files: queryBoolean({ description: 'Whether to name changed files; true without it' }),
}

const listQuery = t.Object({
  ...pageQuery,
  ...parts,
  sha: queryText({ description: 'Branch, tag or commit to begin with; the default branch without it' }),
  path: queryText({ description: 'File or folder that the commits have changed' }),
  since: queryInstant('since'),
  until: queryInstant('until'),
  not: queryText({ description: 'Leaves out what is reachable from this' }),
})

/** The route also answers with text, which is described as a variant. */
const CommitOrText = t.Unsafe<Commit | Response>(Commit)

export const commitRoutes = (context: Context) =>
  new Elysia({ name: 'commits', prefix: '/repos/:owner/:repo', detail: { tags: ['repository'] } })
    .use(gate(context))
    .get(
      '/commits',
      async ({ actor, repo, query, request, set }) => {
        const { page, links } = paging(context, query, { request, set })
        const { since, until, path, not } = query
        const filter = { revision: query.sha, path, not, since, until }
        const list = await listCommits(context, repo, { filter, page, signal: request.signal })
        const version = `${list.total} ${page.number} ${page.limit}`
        const asked = { actor, repo, request, set, version }
        links(list.total)
        writeOldPageHeaders(set.headers, page, list.total)
        return answer(context, asked, { parts: partsOf(query), read: list.read })
      },
      {
        readRepo: read,
        query: listQuery,
        response: { 200: t.Array(Commit), 304: Unchanged },
        detail: {
          operationId: 'repoGetAllCommits',
          summary: 'Commits, newest first',
          'x-list': 'links',
          'x-refuses': [409, 413, 422],
        },
      },
    )
    .get(
      '/git/commits/:sha',
      async ({ actor, repo, params, query, request, set }) => {
        const call = { signal: request.signal, client: gitClient(context, request, actor) }
        const text = await diffText(context, repo, { name: params.sha, call })
        if (text) return text
        const { commit } = await getCommit(context, repo, params.sha)
        const asked = { actor, repo, request, set, version: '' }
        return answerOne(context, asked, { commit, parts: partsOf(query) })
      },
      {
        readRepo: read,
        query: t.Object(parts),
        response: { 200: CommitOrText, 304: Unchanged },
        detail: {
          operationId: 'repoGetSingleCommit',
          summary: 'A commit by its id, or the one at a branch or tag',
          'x-refuses': [413, 422],
          'x-variants': [
            {
              suffix: '.{diffType}',
              values: ['diff', 'patch'],
              operationId: 'repoDownloadCommitDiffOrPatch',
              summary: "A commit's changes as text",
              produces: 'text/plain',
            },
          ],
        },
      },
    )
    .get(
      '/git/notes/:sha',
      async ({ actor, repo, params, query, request, set }) => {
        const noted = await getNamedCommit(context, repo, params.sha)
        const { message, commit } = await getNote(context, repo, noted.sha)
        const asked = { actor, repo, request, set, version: message }
        const shown = await answerOne(context, asked, { commit, parts: partsOf(query) })
        return shown instanceof Response ? shown : { message, commit: shown }
      },
      {
        readRepo: read,
        query: t.Object({ verification: parts.verification, files: parts.files }),
        response: { 200: Note, 304: Unchanged },
        detail: {
          operationId: 'repoGetNote',
          summary: 'The note of a commit, and the commit that has put it there',
          'x-refuses': [413, 422],
        },
      },
    )
    .get(
      '/compare/*',
      async ({ actor, repo, params, request, set }) => {
        const call = { signal: request.signal, client: gitClient(context, request, actor) }
        const found = await compare(context, repo, { actor, pair: decodeWildcard(params), call })
        const asked = { actor, repo, request, set, version: `${found.base} ${found.head}` }
        const commits = await answer(context, asked, { parts: partsOf({}), read: found.read })
        return commits instanceof Response ? commits : { total_commits: found.total, commits }
      },
      {
        readRepo: read,
        response: { 200: Compare, 304: Unchanged },
        detail: {
          operationId: 'repoCompareDiff',
          summary: 'Commits of one branch, tag or commit that another has not, newest first; the newest 250 are told',
          'x-parameters': { '*': 'basehead' },
          'x-refuses': [413],
        },
      },
    )

const changesOf = (context: Context, { repository }: RepositoryAccess, sha: string) =>
  orNotFound(context.git.changes(repository.id, { head: sha }))

interface Asked {
  actor: Actor | undefined
  repo: RepositoryAccess
  request: Request
  set: { headers: Record<string, string | number | undefined> }
  /** What the answer depends on beside the commits. */
  version: string
}

interface Source {
  parts: CommitParts
  read(withChanges: boolean): Promise<LoggedCommit[]>
}

/** For a client that may have the answer already, the changes, which cost most, are computed only when it has not. */
async function answer(context: Context, asked: Asked, { parts, read }: Source): Promise<Commit[] | Response> {
  const { actor, repo, request, set, version } = asked
  const mayHaveIt = request.headers.has('if-none-match')
  const wantsChanges = needsChanges(parts)
  const first = await read(wantsChanges && !mayHaveIt)
  const people = await findPeople(context, actor, parts.withVerification ? first : first.map(withoutSignature))
  const shas = first.map(({ sha }) => sha)
  const unchanged = unchangedAnswer(context, { actor, request, set }, [
    repo.version,
    version,
    JSON.stringify(parts),
    people.version,
    ...shas,
  ])
  if (unchanged) return unchanged
  const commits = wantsChanges && mayHaveIt ? await read(true) : first
  return presentCommits(context, { actor, repo, people }, { commits, parts })
}

const withoutSignature = (commit: LoggedCommit): LoggedCommit => ({ ...commit, signature: undefined })

async function answerOne(
  context: Context,
  asked: Asked,
  { commit, parts }: { commit: LoggedCommit; parts: CommitParts },
): Promise<Commit | Response> {
  const read = async (withChanges: boolean) => [
    withChanges ? { ...commit, changes: await changesOf(context, asked.repo, commit.sha) } : commit,
  ]
  const shown = await answer(context, asked, { parts, read })
  if (shown instanceof Response) return shown
  const [only] = shown
  if (!only) throw new Error('one commit gives one answer')
  return only
}
