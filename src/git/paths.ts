/** Longest path and name in a tree, bytes: what a checkout on common systems can hold. */
const MAX_PATH_BYTES = 4095
const MAX_NAME_BYTES = 255

/** Characters that HFS+ drops when it compares names, so that `.g<U+200C>it` is `.git` there (CVE-2014-9390). */
const HFS_IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g
/** `.git` and its short name on NTFS, where trailing dots, spaces and a stream name are dropped. */
const DOT_GIT = /^(?:\.git|git~\d+)[. ]*(?::.*)?$/i

export type PathProblem = 'empty' | 'too long' | 'characters' | 'reserved'

/** What makes a path unfit to be written into a tree; undefined when it is fit. */
export function pathProblem(path: string): PathProblem | undefined {
  if (path === '') return 'empty'
  if (!path.isWellFormed() || path.includes('\0')) return 'characters'
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return 'too long'
  for (const name of path.split('/')) {
    if (name === '') return 'empty'
    if (Buffer.byteLength(name) > MAX_NAME_BYTES) return 'too long'
    if (isReserved(name)) return 'reserved'
  }
  return undefined
}

/** A backslash separates names on Windows, so each piece is judged as well. */
function isReserved(name: string): boolean {
  return name.split('\\').some((piece) => {
    const plain = piece.replace(HFS_IGNORED, '')
    return plain === '.' || plain === '..' || DOT_GIT.test(plain)
  })
}

/** `.gitmodules` and what other file systems take for it: its content decides which programs a clone runs (CVE-2018-17456). */
export function isSubmoduleFile(path: string): boolean {
  const name = (path.split('/').at(-1) ?? '').replace(HFS_IGNORED, '')
  return /^(?:\.gitmodules|gitmod~\d+|gi[0-9a-f]{4}~\d)[. ]*(?::.*)?$/i.test(name)
}
