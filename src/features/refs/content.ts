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
const MAX_SAMPLED_BYTES = 1024 * 1024
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
    const text = isOpened ? await readText(git, subject, { sha: entry.sha, maxBytes: MAX_SAMPLED_BYTES }) : undefined
    files.push({ path, size, sample: text?.slice(0, SAMPLE_CHARACTERS) })
  }
  return detector.statistics(files)
}

async function findLicenses(git: Git, subject: Subject, entries: TreeEntry[]): Promise<string[]> {
  const texts = entries.filter(({ path, size = 0 }) => isLicenseFile(path) && size <= MAX_LICENSE_BYTES)
  const found = new Set<string>()
  for (const entry of texts.slice(0, MAX_LICENSE_FILES)) {
    const text = await readText(git, subject, { sha: entry.sha, maxBytes: MAX_LICENSE_BYTES })
    for (const license of text === undefined ? [] : await detectLicenses(text)) found.add(license)
  }
  return [...found].sort()
}

/** Undefined for an object that a partial or damaged repository lacks: statistics do without it. */
async function readText(
  git: Git,
  { repositoryId, signal }: Subject,
  { sha, maxBytes }: { sha: string; maxBytes: number },
): Promise<string | undefined> {
  try {
    const { bytes } = await git.readBlob(repositoryId, sha, { maxBytes }, { signal })
    return new TextDecoder().decode(bytes)
  } catch (error) {
    if (isGitError(error, 'not-found')) return undefined
    throw error
  }
}
