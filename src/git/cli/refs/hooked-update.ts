import { join } from 'node:path'
import { GitError } from '../../errors.ts'
import type { Call, HookName } from '../../model.ts'
import { runGit } from '../process/process.ts'
import type { Store } from '../store.ts'
import type { HookRun } from './hooks.ts'

const MAX_OUTPUT = 500

interface Update {
  folder: string
  /** With zeros for what is not there. */
  moves: readonly { ref: string; old: string; new: string }[]
  hooks: HookRun
  call: Call | undefined
}

/**
 * Moves refs between the hooks that a push would have run, so that the API is no way around them. Unlike with a push the objects lie in
 * the repository already; nothing leads to them when a hook declines.
 */
export async function updateBetweenHooks(store: Store, update: Update, move: () => Promise<void>): Promise<void> {
  const lines = update.moves.map(({ old, new: next, ref }) => `${old} ${next} ${ref}\n`).join('')
  await judge(store, update, { name: 'pre-receive', args: [], stdin: lines })
  for (const { ref, old, new: next } of update.moves)
    await judge(store, update, { name: 'update', args: [ref, old, next] })
  await move()
  // The refs have moved, whatever comes of what follows them: git asks no more of it after a push.
  await judge(store, update, { name: 'post-receive', args: [], stdin: lines }).catch(() => undefined)
}

interface Question {
  name: HookName
  args: string[]
  stdin?: string
}

async function judge(store: Store, { folder, hooks, call }: Update, { name, args, stdin }: Question): Promise<void> {
  if (!hooks.present.includes(name)) return
  const { exitCode, stdout, stderr } = await runGit(store.runner, {
    program: join(hooks.folder, name),
    args,
    stdin,
    cwd: folder,
    settings: hooks.settings,
    environment: { ...hooks.environment, GIT_DIR: '.' },
    call,
    accepts: Array.from({ length: 256 }, (_, code) => code),
    // A hook has more time than a short command, and must not keep the files of others from being read.
    isTransfer: true,
  })
  if (exitCode === 0) return
  const output = `${stdout}${stderr}`.trim().slice(0, MAX_OUTPUT)
  throw new GitError('invalid', 'hook', `the ${name} hook declined${output === '' ? '' : `: ${output}`}`)
}
