import { isValidBranchName, isValidTagName } from '../../git/names.ts'
import type { PushCommand } from '../../git/push.ts'
import { parseRef } from '../refs/names.ts'

/** Namespaces that the service itself writes, and why a client may not. */
const RESERVED: readonly (readonly [string, string])[] = [
  ['refs/pull/', 'refs of pull requests are read-only'],
  ...['refs/for/', 'refs/for-review/', 'refs/draft/'].map(
    (prefix) => [prefix, 'pull requests cannot be made by a push yet: push a branch'] as const,
  ),
  ['refs/hidden/', 'the name is reserved'],
]

/** Why one command of a push may not be, before Git sees any of it; undefined when Git may judge. */
export function findCommandFault({ ref, isValidName, new: next }: PushCommand): string | undefined {
  if (!isValidName) return 'invalid ref name'
  const reserved = RESERVED.find(([prefix]) => ref.startsWith(prefix))
  if (reserved) return reserved[1]
  // What was made by older rules can be deleted.
  const name = next === null ? undefined : parseRef(ref)
  if (name?.kind === 'branch' && !isValidBranchName(name.name)) return 'invalid branch name'
  if (name?.kind === 'tag' && !isValidTagName(name.name)) return 'invalid tag name'
  return undefined
}

/** The reason of each command when one or more are refused; undefined when none is. */
export function judgePush(commands: readonly PushCommand[]): ((command: PushCommand) => string) | undefined {
  const faults = new Map(commands.map((command) => [command, findCommandFault(command)]))
  if (commands.every((command) => faults.get(command) === undefined)) return undefined
  return (command) => faults.get(command) ?? 'not pushed, because another ref of the push is refused'
}
