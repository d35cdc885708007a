import { GitError } from '../../errors.ts'
import type { Call, Integrity } from '../../model.ts'
import { type Runner, runGit } from '../process/process.ts'

const MAX_PROBLEMS = 100

/** `git fsck`. Connectivity alone took 30 ms where re-reading 20 MB of content took 600. */
export async function checkRepository(
  runner: Runner,
  folder: string,
  option: { isFull?: boolean } = {},
  call?: Call,
): Promise<Integrity> {
  const mode = option.isFull ? ['--full'] : ['--connectivity-only']
  const args = ['fsck', ...mode, '--no-dangling', '--no-progress', '--no-reflogs']
  const { stdout, stderr, exitCode } = await runGit(runner, {
    args,
    folder,
    call,
    accepts: Array.from({ length: 256 }, (_, code) => code),
    isTransfer: true,
    memory: 'any',
  })
  // Its own codes end at 128; what is above is a signal, such as from a machine that ran out of memory.
  if (exitCode > 128) throw new GitError('busy', 'busy', 'git was ended before it had an answer')
  // A first commit is yet to come: git warns of the HEAD of each empty repository.
  const problems = `${stdout}${stderr}`
    .split('\n')
    .filter((line) => line !== '' && !/^notice: |^warning: /.test(line))
    .slice(0, MAX_PROBLEMS)
  return { isSound: exitCode === 0, problems }
}
