import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../kernel/thrown.ts'

/** Larger files in an operator's folder are a mistake, and would be read on each request. */
const MAX_BYTES = 1024 * 1024

/** The operator's files of one kind, re-read on each use so that no restart is needed to add one. */
export interface OwnFiles {
  /** Names without their ending, in byte order. */
  names(): Promise<string[]>
  /** Undefined for an unknown name and for one that is not a plain file name. */
  read(name: string): Promise<{ text: string; ending: string } | undefined>
}

/**
 * Looks into one folder. `endings` are what a file may end in besides nothing, most wanted first.
 * A name can only be one that the folder lists, so no name from outside becomes part of a path.
 */
export function ownFiles(folder: string, endings: readonly string[]): OwnFiles {
  const files = async () => {
    const found = new Map<string, { file: string; ending: string }>()
    for (const file of await plainFiles(folder)) {
      const ending = endings.find((each) => file.endsWith(each) && file.length > each.length) ?? ''
      const name = file.slice(0, file.length - ending.length)
      if (isSafeName(name)) found.set(name, { file, ending })
    }
    return found
  }
  return {
    names: async () => [...(await files()).keys()].sort(),
    async read(name) {
      const found = (await files()).get(name)
      if (found === undefined) return undefined
      const file = Bun.file(join(folder, found.file))
      return file.size > MAX_BYTES ? undefined : { text: await file.text(), ending: found.ending }
    },
  }
}

const isSafeName = (name: string): boolean => /^[\w][\w .+#@'-]{0,99}$/.test(name)

async function plainFiles(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.filter((entry) => entry.isFile()).map((entry) => entry.name)
  } catch (error) {
    // Most installations have no such folder.
    if (errorCode(error) === 'ENOENT') return []
    throw error
  }
}
