import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Context } from '../../context.ts'
import type { Commit } from '../../git/model.ts'
import { notFound } from '../../kernel/errors.ts'

const NOTES = 'refs/notes/commits'
const MAX_NOTE_BYTES = 1024 * 1024

/**
 * The text that `git notes` has put beside a commit, and the commit that has put it there. With many notes git spreads them over folders
 * named by the first digits.
 * @throws Refusal 404
 */
export async function getNote(
  { git }: Context,
  { repository }: RepositoryAccess,
  sha: string,
): Promise<{ message: string; commit: Commit }> {
  const { id } = repository
  if (!(await git.find(id, NOTES))) throw notFound()
  const places = [sha, `${sha.slice(0, 2)}/${sha.slice(2)}`, `${sha.slice(0, 2)}/${sha.slice(2, 4)}/${sha.slice(4)}`]
  for (const path of places) {
    const entry = await git.findEntry(id, NOTES, path)
    if (entry?.kind !== 'file') continue
    const { bytes } = await git.readBlob(id, entry.sha, { maxBytes: MAX_NOTE_BYTES })
    const [commit] = await git.log(id, { revision: NOTES, path, limit: 1 })
    // Between the two somebody has removed the note.
    if (!commit) throw notFound()
    return { message: Buffer.from(bytes).toString(), commit }
  }
  throw notFound()
}
