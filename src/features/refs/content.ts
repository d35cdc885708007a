import { type ContentFile, languageDetector, SAMPLE_CHARACTERS } from '../../content/language.ts'
import { detectLicenses, isLicenseFile } from '../../content/license.ts'
import type { Git } from '../../git/engine.ts'
import { isGitError } from '../../git/errors.ts'
import type { TreeEntry } from '../../git/model.ts'

/** What the files of one commit say about a repository. */
export interface Content {
  /** Bytes by language, most first. */
  languages: Record<string, number>
  /** SPDX identifiers, in order. */
  licenses: string[]
}

interface Subject {
  repositoryId: number
  commit: string
  signal: AbortSignal
}

/** Files of one tree that are counted, and those of them that are opened since their name does not tell the language. */
const MAX_FILES = 100_000
const MAX_SAMPLES = 300
const MAX_SAMPLED_BYTES = 256 * 1024
const MAX_LICENSE_BYTES = 256 * 1024
const MAX_LICENSE_FILES = 5

/** Reads a tree once, and of its files only the few whose text must be looked at. */
export async function readContent(git: Git, subject: Subject): Promise<Content> {
  const { repositoryId, commit, signal } = subject
  const option = { revision: commit, isRecursive: true, withSizes: true, limit: MAX_FILES }
  const { entries } = await git.readTree(repositoryId, option, { signal })
  const files = entries.filter(({ kind }) => kind === 'file' || kind === 'executable')
  const languages = await countLanguages(git, subject, files)
  return { languages, licenses: await findLicenses(git, subject, files) }
}

async function countLanguages(git: Git, subject: Subject, entries: TreeEntry[]): Promise<Record<string, number>> {
  const detector = await languageDetector()
  const files: ContentFile[] = []
  let samples = 0
  for (const entry of entries) {
    const { path, size = 0 } = entry
    const isOpened = samples < MAX_SAMPLES && size > 0 && size <= MAX_SAMPLED_BYTES && detector.needsSample(path)
    if (isOpened) samples++
    const bytes = isOpened ? await readBytes(git, subject, { sha: entry.sha, maxBytes: MAX_SAMPLED_BYTES }) : undefined
    // A character has four bytes at most; decoding the rest would be in vain.
    const sample = bytes && decode(bytes.subarray(0, 4 * SAMPLE_CHARACTERS)).slice(0, SAMPLE_CHARACTERS)
    files.push({ path, size, sample })
  }
  return detector.statistics(files)
}

async function findLicenses(git: Git, subject: Subject, entries: TreeEntry[]): Promise<string[]> {
  const texts = entries.filter(({ path, size = 0 }) => isLicenseFile(path) && size <= MAX_LICENSE_BYTES)
  const found = new Set<string>()
  for (const entry of texts.slice(0, MAX_LICENSE_FILES)) {
    const bytes = await readBytes(git, subject, { sha: entry.sha, maxBytes: MAX_LICENSE_BYTES })
    for (const license of bytes ? await detectLicenses(decode(bytes)) : []) found.add(license)
  }
  return [...found].sort()
}

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

/** Undefined for an object that a partial or damaged repository lacks: statistics do without it. */
async function readBytes(
  git: Git,
  { repositoryId, signal }: Subject,
  { sha, maxBytes }: { sha: string; maxBytes: number },
): Promise<Uint8Array | undefined> {
  try {
    const { bytes } = await git.readBlob(repositoryId, sha, { maxBytes }, { signal })
    return bytes
  } catch (error) {
    if (isGitError(error, 'not-found')) return undefined
    throw error
  }
}
