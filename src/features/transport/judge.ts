import { judge } from '../../access/decide.ts'
import type { Context } from '../../context.ts'
import { isGitError } from '../../git/errors.ts'
import type { Look } from '../../git/model.ts'
import { isValidBranchName, isValidTagName } from '../../git/names.ts'
import type { PushCommand } from '../../git/push.ts'
import type { PushAccess } from '../../http/git-gate.ts'
import { findPlainViolation, findViolation, type Guard, needsLook } from '../protections/guard.ts'
import { parseRef } from '../refs/names.ts'
import type { EditRepoOption } from '../repositories/schema.ts'

/** Namespaces that the service itself writes, and why a client may not. */
const RESERVED: readonly (readonly [string, string])[] = [
  ['refs/pull/', 'refs of pull requests are read-only'],
  ...['refs/for/', 'refs/for-review/', 'refs/draft/'].map(
    (prefix) => [prefix, 'pull requests cannot be made by a push yet: push a branch'] as const,
  ),
  ['refs/hidden/', 'the name is reserved'],
]

/** Why one command of a push may not be, before Git sees any of it; undefined when Git may judge. */
export function findCommandError({ ref, isValidName, new: next }: PushCommand): string | undefined {
  if (!isValidName) return 'invalid ref name'
  const reserved = RESERVED.find(([prefix]) => ref.startsWith(prefix))
  if (reserved) return reserved[1]
  // What was made by older rules can be deleted.
  const name = next === null ? undefined : parseRef(ref)
  if (name?.kind === 'branch' && !isValidBranchName(name.name)) return 'invalid branch name'
  if (name?.kind === 'tag' && !isValidTagName(name.name)) return 'invalid tag name'
  return undefined
}

/** The reason of each command when one or more are refused; undefined when none is. Without a guard, as for a wiki, only names count. */
export function judgePush(
  commands: readonly PushCommand[],
  guard?: Guard,
): ((command: PushCommand) => string) | undefined {
  const faults = new Map(
    commands.map((command) => [command, findCommandError(command) ?? (guard && findPlainViolation(guard, command))]),
  )
  if (commands.every((command) => faults.get(command) === undefined)) return undefined
  return (command) => faults.get(command) ?? 'not pushed, because another ref of the push is refused'
}

/** Judges the commits of a push when they are there and no ref has moved; undefined where Git alone decides. */
export function judgeOfContent(
  context: Context,
  guard: Guard,
  commands: readonly PushCommand[],
): ((look: Look) => Promise<string | undefined>) | undefined {
  const moves = commands.filter((command) => needsLook(guard, command))
  if (moves.length === 0) return undefined
  return async (look) => {
    try {
      return await findViolation(context, guard, { moves, look })
    } catch (error) {
      if (isGitError(error, 'too-large')) return error.message
      context.log.error({ err: error, repositoryId: guard.repository.id }, 'a push could not be judged')
      return 'the push could not be compared with the rules for protected branches'
    }
  }
}

/** What `git push -o` may change of the repository, by Gitea's names. */
export type PushOptions = Pick<EditRepoOption, 'private' | 'template'>

type Read = { change: PushOptions } | { fault: string }

const NAMES: ReadonlyMap<string, keyof PushOptions> = new Map([
  ['repo.private', 'private'],
  ['repo.template', 'template'],
])

/** As Gitea reads them. */
const VALUES: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((word) => [word, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((word) => [word, false] as const),
])

/**
 * Reads the options of a push. An option without a value means true. Who pushes must be allowed to change the same by the API. An option
 * that nobody would obey is refused: whoever sent it believes that it counts.
 */
export function readPushOptions({ actor, repo }: PushAccess, options: readonly string[]): Read {
  const change: PushOptions = {}
  for (const option of options) {
    const [, name = '', value = 'true'] = /^([^=]*)(?:=(.*))?$/s.exec(option) ?? []
    const key = NAMES.get(name)
    const isSet = VALUES.get(value)
    if (key === undefined) return { fault: `unknown push option ${JSON.stringify(name.slice(0, 50))}` }
    if (isSet === undefined) return { fault: `the push option ${name} is true or false` }
    change[key] = isSet
  }
  if (Object.keys(change).length === 0) return { change }
  if (actor.isDeployKey) return { fault: 'a deploy key may not set push options' }
  const verdict = judge(actor, repo, { level: 'admin', isChange: true })
  return verdict === 'granted' ? { change } : { fault: 'only administrators of the repository may set push options' }
}
