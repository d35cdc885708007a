import type { ArchiveFormat, ArchiveQuery } from '../../git/model.ts'
import { badRequest } from '../../kernel/errors.ts'
import { sha256Hex } from '../../kernel/hashing.ts'

const FORMATS: readonly (readonly [ending: string, format: ArchiveFormat])[] = [
  ['.zip', 'zip'],
  ['.tar.gz', 'tar.gz'],
]

export const MEDIA_TYPES: Readonly<Record<ArchiveFormat, string>> = {
  zip: 'application/zip',
  'tar.gz': 'application/gzip',
}

/**
 * `main.tar.gz` is the branch `main` in that form.
 * @throws Refusal 400 for any other ending
 */
export function parseArchiveName(name: string): { ref: string; format: ArchiveFormat } {
  for (const [ending, format] of FORMATS)
    if (name.endsWith(ending)) return { ref: name.slice(0, -ending.length), format }
  throw badRequest('unknown archive format: .zip and .tar.gz are made')
}

/** The ETag: everything that the bytes depend on. The commit counts, never the name of a ref, which may move. */
export function archiveTag({ revision, format, prefix, paths = [] }: ArchiveQuery): string {
  const rest = sha256Hex(JSON.stringify([prefix, [...paths].sort()]))
  return `"${revision}-${rest.slice(0, 16)}.${format}"`
}
