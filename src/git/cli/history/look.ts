import { join, resolve } from 'node:path'
import { GitError } from '../../errors.ts'
import type { Commit, Look } from '../../model.ts'
import { parseCommit } from '../../objects.ts'
import { type Command, runGit } from '../process/process.ts'
import { folderOf, objectFormatOf, requireFolder, type Store } from '../store.ts'

/** Of one push; whoever brings more brings them in parts. */
const MAX_NEW_COMMITS = 5000

type Place = Pick<Command, 'folder' | 'environment' | 'isWithinAnother'>

/** At the commits of a repository. */
export const lookAt = (store: Store, id: number): Look => look(store, id, { folder: folderOf(store.runner.root, id) })

/** The same together with the objects that a push has brought. @param quarantine the folder where git keeps them; '' if it brought none */
export async function lookInto(store: Store, id: number, quarantine: string): Promise<Look> {
  const folder = await requireFolder(store.runner.root, id)
  if (quarantine === '') return look(store, id, { folder, isWithinAnother: true })
  const environment = {
    GIT_OBJECT_DIRECTORY: resolve(folder, quarantine),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(folder, 'objects')),
  }
  return look(store, id, { folder, environment, isWithinAnother: true })
}

function look(store: Store, id: number, place: Place): Look {
  const run = (command: Omit<Command, keyof Place> & { accepts?: readonly number[] }) =>
    runGit(store.runner, { ...place, ...command })
  const lines = (text: Buffer) => text.toString().split('\n').filter(Boolean)
  return {
    async isAncestor(ancestor, descendant) {
      const args = ['merge-base', '--is-ancestor', '--end-of-options', ancestor, descendant]
      return (await run({ args, accepts: [0, 1] })).exitCode === 0
    },
    async mergeBase(one, other) {
      const { stdout } = await run({ args: ['merge-base', '--end-of-options', one, other], accepts: [0, 1] })
      return lines(stdout)[0]
    },
    async changedPaths(base, head) {
      const empty = new Bun.CryptoHasher(await objectFormatOf(store, id)).update('tree 0\0').digest('hex')
      const args = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', '--end-of-options', base ?? empty, head]
      // A few bytes can stand for many paths: git is ended when it gathers too many.
      const { stdout } = await run({ args, memory: 'some' })
      return stdout.toString().split('\0').filter(Boolean)
    },
    async newCommits(head, not) {
      const rest = not === undefined ? ['--not', '--branches', '--tags'] : ['--not', not]
      const args = ['rev-list', `--max-count=${MAX_NEW_COMMITS + 1}`, head, ...rest]
      const found = await run({ args, memory: 'some' })
      const shas = lines(found.stdout)
      if (shas.length > MAX_NEW_COMMITS)
        throw new GitError('too-large', 'limit', `more than ${MAX_NEW_COMMITS} new commits at once: push them in parts`)
      if (shas.length === 0) return []
      const { stdout } = await run({ args: ['cat-file', '--batch'], stdin: `${shas.join('\n')}\n`, memory: 'some' })
      return parseBatch(stdout)
    },
  }
}

/** `<id> commit <bytes>`, a line feed, the commit, a line feed. */
function parseBatch(output: Buffer): Commit[] {
  const commits: Commit[] = []
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(0x0a, at)
    const [sha = '', type, size = ''] = output.toString('latin1', at, end).split(' ')
    const length = Number(size)
    if (end < 0 || type !== 'commit' || !Number.isSafeInteger(length))
      throw new GitError('failed', 'program', 'git cat-file gave no commit')
    commits.push(parseCommit(sha, output.subarray(end + 1, end + 1 + length)))
    at = end + 1 + length + 1
  }
  return commits
}
