import { setImmediate } from 'node:timers/promises'
import { type FileAttributes, fileAttributeNames, readFileAttributes } from '../../content/file-attributes.ts'
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

/** Files of one tree that are counted, and those of them that are opened because their name does not decide the language. */
const MAX_FILES = 100_000
const MAX_SAMPLES = 300
const MAX_SAMPLED_BYTES = 256 * 1024
const MAX_LICENSE_BYTES = 256 * 1024
const MAX_LICENSE_FILES = 5
/** Files with attributes that are heeded, and the time for asking of all paths; past it only the paths decide. */
const MAX_ATTRIBUTE_FILES = 100
const MAX_ATTRIBUTE_BYTES = 64 * 1024
const ATTRIBUTE_MS = 5000

/** Characters of paths that are judged in one turn of the event loop. */
const PORTION = 100_000
/** Of all paths that are judged: a tree may hold the same few folders again and again, ever deeper. */
const MAX_CHARACTERS = 6_000_000

/** Reads a tree once, and of its files only the few whose text must be looked at. */
export async function readContent(git: Git, subject: Subject): Promise<Content> {
  const { repositoryId, commit, signal } = subject
  const option = { revision: commit, isRecursive: true, withSizes: true, limit: MAX_FILES }
  const { entries } = await git.readTree(repositoryId, option, { signal })
  let characters = 0
  const files = entries.filter(({ kind, path }) => {
    characters += path.length
    return characters <= MAX_CHARACTERS && (kind === 'file' || kind === 'executable')
  })
  const languages = await countLanguages(git, subject, files)
  return { languages, licenses: await findLicenses(git, subject, files) }
}

async function countLanguages(git: Git, subject: Subject, entries: TreeEntry[]): Promise<Record<string, number>> {
  const detector = await languageDetector()
  const attributes = await findAttributes(git, subject, entries)
  const files: ContentFile[] = []
  let samples = 0
  let characters = 0
  for (const entry of entries) {
    const { path, size = 0 } = entry
    // Patterns over long paths take their time; others are served in between.
    characters += path.length
    if (characters > PORTION) {
      characters = 0
      await setImmediate()
    }
    const said = attributes.get(path)
    const isOpened = samples < MAX_SAMPLES && size > 0 && size <= MAX_SAMPLED_BYTES && detector.needsSample(path, said)
    if (isOpened) samples++
    const bytes = isOpened ? await readBytes(git, subject, { sha: entry.sha, maxBytes: MAX_SAMPLED_BYTES }) : undefined
    // A character has four bytes at most; decoding the rest would be in vain.
    const sample = bytes && decode(bytes.subarray(0, 4 * SAMPLE_CHARACTERS)).slice(0, SAMPLE_CHARACTERS)
    files.push({ path, size, sample, attributes: said })
  }
  return detector.statistics(files)
}

/** What the `.gitattributes` of the tree say; those nearest to the root when there are very many. */
async function findAttributes(
  git: Git,
  { repositoryId, signal }: Subject,
  entries: TreeEntry[],
): Promise<ReadonlyMap<string, FileAttributes>> {
  const sources = entries
    .filter(({ name, size = 0 }) => name === '.gitattributes' && size <= MAX_ATTRIBUTE_BYTES)
    .sort((left, right) => left.path.length - right.path.length)
    .slice(0, MAX_ATTRIBUTE_FILES)
  const paths = sources.length === 0 ? [] : entries.map(({ path }) => path)
  const call = { signal, timeoutMs: ATTRIBUTE_MS }
  try {
    const found = await git.readAttributes(repositoryId, { sources, names: fileAttributeNames, paths }, call)
    return new Map([...found].map(([path, values]) => [path, readFileAttributes(values)]))
  } catch (error) {
    // So many patterns for so many paths are meant to take time or memory, or the machine has none to give: languages are no need.
    if (isGitError(error, 'timeout') || isGitError(error, 'too-large')) return new Map()
    throw error
  }
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
