import type { TipCommit } from '../../../db/schema/refs.ts'
import type { Git } from '../../git/engine.ts'
import type { Commit, ObjectSignature } from '../../git/model.ts'
import { BRANCHES, parseRef, TAGS } from './names.ts'

/** What a ref on disk holds. */
export interface DiskRef {
  sha: string
  /** The object behind an annotated tag, else `sha`. */
  target: string
}

/** Up to this number, looking up each ref in a running process is cheaper than starting a process that lists all of them. */
const MAX_LOOKUPS = 32

/** Branches and tags on disk by full name: all of them, or those of `only` that exist. */
export async function readDiskRefs(
  git: Git,
  repositoryId: number,
  only?: readonly string[],
): Promise<Map<string, DiskRef>> {
  if (only !== undefined && only.length <= MAX_LOOKUPS) return lookUp(git, repositoryId, only)
  const wanted = only && new Set(only)
  const [branches, tags] = await Promise.all([
    git.listRefs(repositoryId, { prefix: BRANCHES }),
    git.listRefs(repositoryId, { prefix: TAGS }),
  ])
  const found = new Map<string, DiskRef>()
  for (const { name, sha, peeled } of [...branches, ...tags]) {
    // A name outside UTF-8 came by another way than a push; it cannot be distinguished from others like it.
    if (name.includes('\ufffd') || (wanted && !wanted.has(name))) continue
    found.set(name, { sha, target: peeled?.sha ?? sha })
  }
  return found
}

async function lookUp(git: Git, id: number, names: readonly string[]): Promise<Map<string, DiskRef>> {
  const entries = await Promise.all(
    names.map(async (name): Promise<[string, DiskRef] | undefined> => {
      const held = await git.find(id, name)
      if (!held) return undefined
      if (held.type !== 'tag') return [name, { sha: held.sha, target: held.sha }]
      const commit = await git.findCommit(id, held.sha)
      return [name, { sha: held.sha, target: commit ?? held.sha }]
    }),
  )
  return new Map(entries.filter((entry) => entry !== undefined))
}

/** Whether a full name is one that has a row. */
export const hasRow = (ref: string): boolean => parseRef(ref) !== undefined

/** Longest text of a message that is stored beside a ref; the whole one is in Git. */
const MAX_MESSAGE = 65_536

/** A commit as rows hold it. */
export function tipOf(commit: Commit): TipCommit {
  const { signature } = commit
  if (!signature || !isStorable(signature)) return summaryOf(commit)
  return { ...summaryOf(commit), signature }
}

/** What would not come back as it was would look like a forgery. */
const isStorable = ({ text, payload }: ObjectSignature): boolean =>
  text.length + payload.length <= MAX_MESSAGE && !text.includes('\0') && !payload.includes('\0')

/** The same without its signature, as events hold it. */
export function summaryOf(commit: Commit): Omit<TipCommit, 'signature'> {
  const { author, committer } = commit
  return {
    message: storable(commit.message.slice(0, MAX_MESSAGE)),
    authorName: storable(author.name),
    authorEmail: storable(author.email),
    authoredAt: storableDate(author.date).toISOString(),
    committerName: storable(committer.name),
    committerEmail: storable(committer.email),
    committedAt: storableDate(committer.date).toISOString(),
  }
}

/** PostgreSQL's JSON has no NUL, and refuses half a character where a text was cut. */
const storable = (text: string): string => text.replaceAll('\0', '\ufffd').toWellFormed()

const FIRST = Date.parse('0001-01-01T00:00:00Z')
const LAST = Date.parse('9999-12-31T23:59:59Z')

/** Commits may claim any time; PostgreSQL reads four digits of a year. */
export function storableDate(date: Date): Date {
  const time = date.getTime()
  return Number.isNaN(time) ? new Date(0) : new Date(Math.min(Math.max(time, FIRST), LAST))
}
