/** Folders of the store that are no owners; an owner's name cannot begin with the sign. */
export const REPOSITORIES = '@repositories'
export const CREATING = '@creating'
export const TRASH = '@trash'
/** What git runs in place of the hooks of a repository. */
export const HOOK_RUNNERS = '@hooks'

/** Where a repository lies, relative to the root: 256 folders keep each of them small up to some millions of repositories. */
export function storagePath(id: number): string {
  if (!Number.isSafeInteger(id) || id < 1) throw new Error(`not a repository id: ${id}`)
  return `${REPOSITORIES}/${fanOut(id)}/${id}.git`
}

export const fanOut = (id: number): string => (id % 256).toString(16).padStart(2, '0')
