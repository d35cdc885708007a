import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolders, renameDurable, syncFolder, writeDurable } from '../../../kernel/durable.ts'
import { randomHex } from '../../../kernel/hashing.ts'
import { noneIfMissing } from '../../../kernel/missing.ts'
import { GitError } from '../../errors.ts'
import { type Call, type GitHook, type HookName, hookNames } from '../../model.ts'
import { HOOK_RUNNERS } from '../../storage.ts'
import { requireFolder, type Store } from '../store.ts'

/** Not `hooks`: what a folder of that name holds came with the repository from somewhere else, and is never run. */
const FOLDER = 'server-hooks'

/**
 * What git runs in place of a hook. Before any ref of a push moves, the server is asked whether they may, over descriptor 3, where it
 * wants to be. The limit on memory is for what was pushed, not for the hook. `timeout` gives the hook a process group of its own and ends
 * all of it, so that a push with an endless hook is declined as by any other; when the push itself is ended, the signal is handed on.
 * What a hook leaves running in its group ends with it, or the push would wait for whatever holds its output. Nothing but the hook holds
 * its input open: git would wait for a reader else.
 */
const RUNNER = `#!/bin/sh
if [ "\${0##*/}" = pre-receive ] && [ -n "$HEARTH_JUDGE" ]; then
  echo "$GIT_QUARANTINE_PATH" >&3
  IFS= read -r fault <&3 || fault='the server could not judge the push'
  exec 3>&-
  [ -z "$fault" ] || { echo "$fault" >&2; exit 1; }
fi
hook=./${FOLDER}/\${0##*/}
[ -n "$HEARTH_HOOK_SECONDS" ] && [ -x "$hook" ] || exit 0
child=
trap '[ -z "$child" ] || kill "$child" 2>/dev/null' HUP INT TERM
ulimit -S -d "$(ulimit -H -d)"
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
 * @param hookSeconds undefined: no hook of a repository runs
 */
export async function installHookRunners(root: string, hookSeconds: number | undefined): Promise<void> {
  if (hookSeconds !== undefined && Bun.which('timeout') === null)
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

/** @param isJudged whether the server is asked before the refs of a push move */
export async function hookRun(
  { hookSeconds, runner }: Store,
  folder: string,
  { id, call, isJudged = false }: { id: number; call: Call | undefined; isJudged?: boolean },
): Promise<HookRun | undefined> {
  const files = hookSeconds === undefined ? [] : await readdir(join(folder, FOLDER)).catch(noneIfMissing)
  const present = hookNames.filter((name) => files?.includes(name) || (isJudged && name === 'pre-receive'))
  if (present.length === 0) return undefined
  const runners = runnersOf(runner.root, present)
  return {
    folder: runners,
    present,
    settings: [['core.hooksPath', runners]],
    environment: {
      ...variables(id, call),
      ...(hookSeconds !== undefined && { HEARTH_HOOK_SECONDS: String(hookSeconds) }),
      ...(isJudged && { HEARTH_JUDGE: 'yes' }),
    },
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
