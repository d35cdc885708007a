import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { noneIfMissing } from '../../../kernel/missing.ts'
import { errorCode } from '../../../kernel/thrown.ts'

/** Of loose refs and their folders, 0.02 ms each: with more, git is asked. Maintenance packs them. */
const MAX_FILES = 200
/** Some 60,000 packed refs: 3 ms, where git takes 20 to list them. */
const MAX_BYTES = 4 * 1024 * 1024

/** What git's answers to a fetch depend on, besides the request and the objects, which never change. */
export interface RefState {
  /** Of names and contents: the same refs, the same fingerprint, in every replica. */
  fingerprint: string
  /**
   * Of the files themselves. Equal before and after git has run, nothing was written in between, so that git has seen what the
   * fingerprint says: also a ref that moved and came back was replaced.
   */
  stamp: string
}

interface Found {
  name: string
  stamp: string
  /** Undefined for a folder. */
  content: Buffer | undefined
}

/**
 * Reads every ref, HEAD and the settings as files. Undefined where that would take longer than to ask git, where refs are stored in
 * another way, and where a file cannot be read, or vanishes meanwhile.
 */
export async function readRefState(folder: string): Promise<RefState | undefined> {
  const budget = { files: MAX_FILES, bytes: MAX_BYTES }
  try {
    // Loose refs before packed ones, as git reads them: they are packed first and removed then.
    const loose = await readFolder(folder, 'refs', budget)
    const single = await Promise.all(
      ['packed-refs', 'HEAD', 'config', 'shallow'].map((name) => readIfThere(folder, name, budget)),
    )
    if (single[2]?.content?.toString().match(/refstorage|include/i)) return undefined
    return summarize([...loose, ...single.filter((file) => file !== undefined)])
  } catch (error) {
    // Whatever a disk can fail with, git will say it better.
    if (error instanceof TooMuch || errorCode(error) !== undefined) return undefined
    throw error
  }
}

class TooMuch extends Error {}

interface Budget {
  files: number
  bytes: number
}

async function readFolder(root: string, name: string, budget: Budget): Promise<Found[]> {
  const path = join(root, name)
  // Whatever comes, goes or is replaced in a folder changes its time.
  const stamp = await stampOf(path)
  const entries = await readdir(path, { withFileTypes: true })
  budget.files -= entries.length
  if (budget.files < 0) throw new TooMuch()
  const found = await Promise.all(
    entries
      .filter((entry) => !entry.name.endsWith('.lock'))
      .map((entry) => {
        const inner = `${name}/${entry.name}`
        return entry.isDirectory()
          ? readFolder(root, inner, budget)
          : readFound(root, inner, budget).then((one) => [one])
      }),
  )
  return [{ name, stamp: stamp.text, content: undefined }, ...found.flat()]
}

async function readIfThere(root: string, name: string, budget: Budget): Promise<Found | undefined> {
  return readFound(root, name, budget).catch(noneIfMissing)
}

/** The stamp first: a file that is replaced in between then has another one at the next look. */
async function readFound(root: string, name: string, budget: Budget): Promise<Found> {
  const stamp = await stampOf(join(root, name))
  budget.bytes -= stamp.bytes
  if (budget.bytes < 0) throw new TooMuch()
  return { name, stamp: stamp.text, content: await readFile(join(root, name)) }
}

async function stampOf(path: string): Promise<{ text: string; bytes: number }> {
  const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true })
  return { text: `${ino} ${size} ${mtimeNs} ${ctimeNs}`, bytes: Number(size) }
}

function summarize(found: Found[]): RefState {
  const fingerprint = createHash('sha256')
  const stamp = createHash('sha256')
  for (const { name, content, stamp: own } of found.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    stamp.update(`${name}\0${own}\n`)
    if (content === undefined) continue
    fingerprint.update(`${name}\0${content.length}\0`).update(content)
  }
  return { fingerprint: fingerprint.digest('hex'), stamp: stamp.digest('hex') }
}
