import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../kernel/errors.ts'
import { BRANCHES, TAGS } from '../refs/names.ts'

/** Parts of an address that may belong to the name of a branch or tag. */
const MAX_NAME_PARTS = 16

/** A commit's id, shortened at most as far as people do. */
const COMMIT = /^[0-9a-f]{7,64}$/

interface Split {
  ref: string
  path: string
}

/**
 * Tells where the revision ends and the path begins. Since no branch can be called `a` while one is called `a/b`, at most one
 * beginning of the address names a branch; the same holds for tags.
 * @param address `branch/<name>/<path>`, `tag/<name>/<path>`, `commit/<id>/<path>`, or any of these without its first word
 * @throws Refusal 404
 */
export async function splitAddress(context: Context, repo: RepositoryAccess, address: string): Promise<Split> {
  const [kind = '', ...rest] = address.split('/')
  if (kind === 'commit') return { ref: rest[0] ?? '', path: rest.slice(1).join('/') }
  if (kind === 'branch') return found(await splitName(context, repo, { prefix: BRANCHES, parts: rest }))
  if (kind === 'tag') return found(await splitName(context, repo, { prefix: TAGS, parts: rest }))
  return (await splitRevision(context, repo, address)) ?? { ref: kind, path: rest.join('/') }
}

/** The branch, tag or commit that an address such as `main/docs/a.txt` begins with, and what follows; undefined without one. */
export async function splitRevision(
  context: Context,
  repo: RepositoryAccess,
  address: string,
): Promise<Split | undefined> {
  const parts = address.split('/')
  const [sha = '', ...rest] = parts
  return (
    (await splitName(context, repo, { prefix: BRANCHES, parts })) ??
    (await splitName(context, repo, { prefix: TAGS, parts })) ??
    (rest.length > 0 && COMMIT.test(sha) ? { ref: sha, path: rest.join('/') } : undefined)
  )
}

async function splitName(
  { git }: Context,
  { repository }: RepositoryAccess,
  { prefix, parts }: { prefix: string; parts: readonly string[] },
): Promise<Split | undefined> {
  const lengths = Array.from({ length: Math.min(parts.length - 1, MAX_NAME_PARTS) }, (_, index) => index + 1)
  const known = await Promise.all(
    lengths.map((length) => git.find(repository.id, prefix + parts.slice(0, length).join('/'))),
  )
  const index = known.findIndex((object) => object !== undefined)
  const length = lengths[index]
  if (length === undefined) return undefined
  return { ref: prefix + parts.slice(0, length).join('/'), path: parts.slice(length).join('/') }
}

function found<Result>(result: Result | undefined): Result {
  if (result === undefined) throw notFound()
  return result
}
