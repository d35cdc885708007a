import { randomFillSync } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GitClient } from '../harness/git.ts'

const MIB = 1024 * 1024

/** What is in a repository that is measured. */
export type Content = 'files of random bytes' | 'text with a history'

const FILE_WORDS = 1700
/** Of one file with all its versions, as they lie in a pack. */
const FILE_PACKED_BYTES = 7000
const COMMITS = 20

/** A repository whose pack is about so large, in a new folder. The text is the same in every run. */
export async function makeSource(git: GitClient, folder: string, content: Content, sizeMiB: number): Promise<void> {
  mkdirSync(folder)
  await git(['init', '--quiet'], { cwd: folder })
  if (content === 'files of random bytes') {
    for (let part = 0; part < sizeMiB; part++)
      writeFileSync(join(folder, `part${part}`), randomFillSync(Buffer.alloc(MIB)))
    await commitAll(git, folder)
  } else await writeHistory(git, folder, Math.ceil((sizeMiB * MIB) / FILE_PACKED_BYTES))
  // As it lies on the server: in one pack. Loose objects would have to be packed for each clone.
  await git(['repack', '-adq'], { cwd: folder })
}

export async function commitAll(git: GitClient, cwd: string): Promise<void> {
  await git(['add', '.'], { cwd })
  await git(['commit', '--quiet', '-m', 'measured'], { cwd })
}

async function writeHistory(git: GitClient, folder: string, files: number): Promise<void> {
  const roll = dice(7)
  const words = Array.from({ length: 3000 }, () => Array.from({ length: 2 + roll(8) }, () => letter(roll)).join(''))
  const line = () => Array.from({ length: 10 }, () => words[roll(words.length)]).join(' ')
  const texts = Array.from({ length: files }, () => Array.from({ length: FILE_WORDS / 10 }, line))
  for (let version = 0; version < COMMITS; version++) {
    for (const [number, text] of texts.entries()) {
      if (version > 0 && roll(10) > 0) continue
      text[roll(text.length)] = line()
      const place = join(folder, `part${number % 50}`)
      mkdirSync(place, { recursive: true })
      writeFileSync(join(place, `text${number}`), `${text.join('\n')}\n`)
    }
    await commitAll(git, folder)
  }
}

const letter = (roll: (sides: number) => number): string => String.fromCharCode('a'.charCodeAt(0) + roll(26))

/** Numbers below `sides`, the same in each run. */
function dice(seed: number) {
  let state = seed
  return (sides: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return (state >> 8) % sides
  }
}
