import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GitError } from '../../errors.ts'
import type { ObjectFormat } from '../../model.ts'
import { gitEnvironment } from './environment.ts'

/** `cat-file --batch-command`, `core.fsync`, and geometric repacking as we use them are all there from here on. */
export const OLDEST_GIT = '2.39'

export interface GitProgram {
  binary: string
  version: string
  objectFormats: readonly ObjectFormat[]
}

/** Finds git and says what it can do. Throws `failed` `program` with a sentence for the administrator. */
export async function probeGit(binary?: string): Promise<GitProgram> {
  const path = Bun.which(binary ?? 'git')
  if (path === null) throw unusable(`the program ${binary ?? 'git'} was not found`)
  const output = await print(path, ['version'])
  const version = /^git version (\d+\.\d+(?:\.\d+)?)/.exec(output)?.[1]
  if (version === undefined) throw unusable(`${path} does not answer as git does`)
  if (compare(version, OLDEST_GIT) < 0) throw unusable(`git ${version} is older than ${OLDEST_GIT}`)
  return { binary: path, version, objectFormats: (await knowsSha256(path)) ? ['sha1', 'sha256'] : ['sha1'] }
}

/** Asked by doing it: some distributions build git without the second format. 10 ms, once at start. */
async function knowsSha256(binary: string): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'hearth-git-'))
  try {
    await print(binary, ['init', '--quiet', '--bare', '--template=', '--object-format=sha256', folder])
    return (await readFile(join(folder, 'config'), 'utf8').catch(() => '')).includes('sha256')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const unusable = (message: string) => new GitError('failed', 'program', message)

function compare(one: string, other: string): number {
  const [a, b] = [one, other].map((version) => version.split('.').map(Number))
  return (a?.[0] ?? 0) - (b?.[0] ?? 0) || (a?.[1] ?? 0) - (b?.[1] ?? 0)
}

async function print(binary: string, args: string[]): Promise<string> {
  const child = Bun.spawn([binary, ...args], {
    cwd: '/',
    env: gitEnvironment(binary),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const [text] = await Promise.all([new Response(child.stdout).text(), child.exited])
  return text
}
