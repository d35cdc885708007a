import type { RefRow } from '../../../db/schema/refs.ts'
import type { Context } from '../../context.ts'
import { isGitError } from '../../git/errors.ts'
import type { ShownTag } from '../../wire/tag.ts'

/** What tags show. Rows do not say which of them are annotated: Git is asked for all of a page at once, and only for those for more. */
export async function loadTags({ git }: Context, repositoryId: number, rows: readonly RefRow[]): Promise<ShownTag[]> {
  const objects = await git.sizes(repositoryId, [...new Set(rows.map(({ sha }) => sha))])
  return Promise.all(
    rows.map(async (row) => {
      const annotated =
        objects.get(row.sha)?.type === 'tag' ? await readAnnotation({ git }, repositoryId, row) : undefined
      return annotated ?? lightTag(row)
    }),
  )
}

/** Wire: a light tag shows the message of its commit. */
const lightTag = ({ name, sha, commit, committedAt }: RefRow): ShownTag => ({
  name,
  sha,
  commit: sha,
  message: commit?.message ?? '',
  createdAt: committedAt,
})

/** Undefined when the tag has gone meanwhile. */
async function readAnnotation(
  { git }: Pick<Context, 'git'>,
  repositoryId: number,
  { name, sha, committedAt }: RefRow,
): Promise<ShownTag | undefined> {
  try {
    const { target, message, tagger } = await git.readTag(repositoryId, sha)
    const isNested = target.type === 'tag'
    const commit = isNested ? await git.findCommit(repositoryId, sha) : target.sha
    return { name, sha, commit: commit ?? target.sha, message, createdAt: tagger?.date ?? committedAt }
  } catch (error) {
    if (isGitError(error, 'not-found')) return undefined
    throw error
  }
}
