import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { randomHex } from '../../../kernel/hashing.ts'
import { errorCode } from '../../../kernel/thrown.ts'
import { GitError } from '../../errors.ts'
import { type Call, type GitHook, type HookName, hookNames } from '../../model.ts'
import { HOOK_RUNNERS } from '../../storage.ts'
import { makeFolders, renameDurable, syncFolder, writeDurable } from '../process/durable.ts'
import { requireFolder, type Store } from '../store.ts'

/** Not `hooks`: what a folder of that name holds came with the repository from somewhere else, and is never run. */
const FOLDER = 'server-hooks'

/**
 * What git runs in place of a hook. `timeout` gives the hook a process group of its own and ends all of it, so that a push with an
 * endless hook is declined as by any other; when the push itself is ended, the signal is handed on. What a hook leaves running in its
 * group ends with it, or the push would wait for whatever holds its output. Nothing but the hook holds its input open: git would wait
 * for a reader else.
 */
const RUNNER = `#!/bin/sh
hook=./${FOLDER}/\${0##*/}
[ -x "$hook" ] || exit 0
child=
trap '[ -z "$child" ] || kill "$child" 2>/dev/null' HUP INT TERM
exec 3<&0 </dev/null
timeout -k 5 "$HEARTH_HOOK_SECONDS" "$hook" "$@" <&3 3<&- &
child=$!
exec 3<&-
wait "$child"
status=$?
while kill -0 "$child" 2>/dev/null; do
  wait "$child"
  status=$?
done
kill -s KILL -- "-$child" 2>/dev/null
[ "$status" -ne 124 ] || echo "the \${0##*/} hook took longer than $HEARTH_HOOK_SECONDS s" >&2
exit "$status"
`

/**
 * Makes the folders that git is shown when hooks are to run, one for each choice of hooks: git starts nothing for those that are not
 * set, where a runner without a hook would cost 3 ms for each ref. Throws `failed` `program` where hooks could not be ended.
 */
export async function installHookRunners(root: string): Promise<void> {
  if (Bun.which('timeout') === null)
    throw new GitError('failed', 'program', 'Git hooks need the program timeout (GNU coreutils)')
  for (let choice = 1; choice < 2 ** hookNames.length; choice++) {
    const chosen = hookNames.filter((_, bit) => choice & (1 << bit))
    const folder = runnersOf(root, chosen)
    await makeFolders(folder)
    for (const name of chosen) await putProgram(join(folder, name), { text: RUNNER, mode: 0o755 })
  }
}

const runnersOf = (root: string, chosen: readonly HookName[]) => join(root, HOOK_RUNNERS, chosen.join('+'))

/** In one step, since a push may be about to run it. What a killed process leaves ends like a lock and is cleaned up like one. */
async function putProgram(path: string, { text, mode }: { text: string; mode: number }): Promise<void> {
  const aside = `${path}-${randomHex(6)}.lock`
  await writeDurable(aside, text, mode)
  await renameDurable(aside, path)
}

export async function listHooks(store: Store, id: number): Promise<GitHook[]> {
  const folder = join(await requireFolder(store.runner.root, id), FOLDER)
  return Promise.all(
    hookNames.map(async (name) => ({ name, content: await readFile(join(folder, name), 'utf8').catch(noneIfMissing) })),
  )
}

function noneIfMissing(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT') throw error
}

export async function setHook(store: Store, id: number, { name, content }: GitHook): Promise<void> {
  const folder = join(await requireFolder(store.runner.root, id), FOLDER)
  const path = join(folder, name)
  await makeFolders(folder)
  if (content === undefined) {
    await rm(path, { force: true })
    return syncFolder(folder)
  }
  await putProgram(path, { text: content, mode: 0o700 })
}

/** The settings by which git runs the hooks of a repository; undefined where there is none, or where none may run. */
export interface HookRun {
  /** Where the programs to run lie, and which there are. */
  folder: string
  present: readonly HookName[]
  settings: readonly (readonly [string, string])[]
  environment: Record<string, string>
}

export async function hookRun(store: Store, folder: string, id: number, call?: Call): Promise<HookRun | undefined> {
  const { hookSeconds } = store
  if (hookSeconds === undefined) return undefined
  const files = await readdir(join(folder, FOLDER)).catch(noneIfMissing)
  const present = hookNames.filter((name) => files?.includes(name))
  if (present.length === 0) return undefined
  const runners = runnersOf(store.runner.root, present)
  return {
    folder: runners,
    present,
    settings: [['core.hooksPath', runners]],
    environment: { ...variables(id, call), HEARTH_HOOK_SECONDS: String(hookSeconds) },
  }
}

/** Wire: Gitea's names, which scripts written for it read. */
function variables(id: number, call: Call | undefined): Record<string, string> {
  const pusher = call?.pusher
  return {
    GITEA_REPO_ID: String(id),
    ...(pusher && {
      GITEA_PUSHER_ID: String(pusher.id),
      GITEA_PUSHER_NAME: pusher.name,
      GITEA_REPO_USER_NAME: pusher.repository.owner,
      GITEA_REPO_NAME: pusher.repository.name,
    }),
  }
}
