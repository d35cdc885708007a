import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Context } from '../../context.ts'
import type { Call } from '../../git/model.ts'
import { streamed } from '../../http/download.ts'
import { getCommit } from './service.ts'

/**
 * The changes of a commit as text where the name ends in `.diff` or `.patch`; undefined for any other name.
 * @throws Refusal 404, 422
 */
export async function diffText(
  context: Context,
  repo: RepositoryAccess,
  { name, call }: { name: string; call: Call },
): Promise<Response | undefined> {
  const [, revision, format] = /^(.+)\.(diff|patch)$/.exec(name) ?? []
  if (revision === undefined) return undefined
  const { commit } = await getCommit(context, repo, revision)
  const query = { head: commit.sha, format: format === 'patch' ? ('patch' as const) : ('diff' as const) }
  const stream = await context.git.diff(repo.repository.id, query, call)
  return streamed(stream, { headers: { 'content-type': 'text/plain;charset=utf-8' } })
}
