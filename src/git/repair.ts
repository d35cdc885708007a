import type { Call, ObjectFormat, UnadoptedFolder } from './model.ts'

/** `incomplete`: HEAD, the settings, `objects` or `refs` are missing or cannot be what they should be. `no-folder`: a link, say. */
export type FolderState = 'whole' | 'missing' | 'no-folder' | 'incomplete'

/** A branch or tag whose object is not there, or not all that can be reached from it. `sha` is undefined where it cannot be read. */
export interface BrokenRef {
  /** In full. */
  name: string
  sha: string | undefined
}

/** What is wrong with folders, and what can be done about it; for `doctor`. No function starts a hook. */
export interface GitRepair {
  folderState(id: number): Promise<FolderState>
  /** Makes what an empty repository has and this one lacks. What is there stays. */
  restoreFolder(id: number, option: { objectFormat: ObjectFormat; defaultBranch: string }): Promise<void>
  /** What `cleanStale` would remove, as paths within the folder. */
  listStale(id: number, olderThanSeconds: number, locksOlderThanSeconds?: number): Promise<string[]>
  /** What `cleanStore` would remove, as paths below the root. */
  listHalfBuilt(olderThanSeconds: number): Promise<string[]>
  /** Objects and packs without content, which `fsck` of the connections alone takes for whole, as paths within the folder. */
  listEmptyObjects(id: number): Promise<string[]>
  /**
   * Removes files that are empty and never are in a sound repository, and what Git makes again by itself; makes the indexes of packs
   * that have none. Returns how many files changed.
   */
  repairObjects(id: number, call?: Call): Promise<number>
  listBrokenRefs(id: number, call?: Call): Promise<BrokenRef[]>
  /** Whether the object and all that can be reached from it are there. */
  isWhole(id: number, sha: string, call?: Call): Promise<boolean>
  /** Whatever the ref holds, also where that cannot be read. Undefined removes it. */
  replaceRef(id: number, name: string, sha: string | undefined): Promise<void>
  /** Moves a folder out of the store to where it can be adopted. Throws `conflict` `repository-exists`. */
  setAside(id: number, place: UnadoptedFolder): Promise<void>
}
