import { judge } from '../../access/judge.ts'
import type { PushAccess } from '../../http/git-gate.ts'
import type { EditRepoOption } from '../repositories/schema.ts'

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
