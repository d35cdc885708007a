import type { ArchiveFormat } from '../../git/model.ts'
import { badRequest } from '../../kernel/errors.ts'

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
