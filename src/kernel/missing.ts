import { errorCode } from './thrown.ts'

const isMissing = (error: unknown): boolean => errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR'

/** For `catch`: a folder that is not there has no entries. Any other failure of the disk is thrown on. */
export function emptyIfMissing(error: unknown): never[] {
  if (isMissing(error)) return []
  throw error
}

/** For `catch`: undefined for a file that is not there. Any other failure of the disk is thrown on. */
export function noneIfMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error
}
