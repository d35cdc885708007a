import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../kernel/errors.ts'
import { BRANCHES, TAGS } from '../refs/names.ts'

/** Parts of an address that may belong to the name of a branch or tag. */
const MAX_NAME_PARTS = 16

/**
 * Tells where the revision ends and the path begins. Since no branch can be called `a` while one is called `a/b`, at most one
 * beginning of the address names a branch; the same holds for tags.
 * @param address `branch/<name>/<path>`, `tag/<name>/<path>`, `commit/<id>/<path>`, or any of these without its first word
 * @throws Refusal 404
 */
export async function splitAddress(
  context: Context,
  repo: RepositoryAccess,
  address: string,
): Promise<{ ref: string; path: string }> {
  const [kind = '', ...rest] = address.split('/')
  if (kind === 'commit') return { ref: rest[0] ?? '', path: rest.slice(1).join('/') }
  if (kind === 'branch') return found(await splitName(context, repo, { prefix: BRANCHES, parts: rest }))
  if (kind === 'tag') return found(await splitName(context, repo, { prefix: TAGS, parts: rest }))
  const parts = [kind, ...rest]
  const named =
    (await splitName(context, repo, { prefix: BRANCHES, parts })) ??
    (await splitName(context, repo, { prefix: TAGS, parts }))
  return named ?? { ref: kind, path: rest.join('/') }
}

async function splitName(
  { git }: Context,
  { repository }: RepositoryAccess,
  { prefix, parts }: { prefix: string; parts: readonly string[] },
): Promise<{ ref: string; path: string } | undefined> {
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
