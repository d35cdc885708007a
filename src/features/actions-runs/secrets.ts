import type { Db } from '../../../db/client.ts'
import type { ActionsJobPlan } from '../../../db/schema/actions.ts'
import type { Context } from '../../context.ts'
import { readValues } from '../actions-values/store.ts'
import { masksOf } from './masks.ts'

export interface GivenSecrets {
  /** By the names that the job knows them by. */
  secrets: Record<string, string>
  /** What its log must not show: all that it could have, whatever it was given. */
  masks: string[]
  problem?: undefined
}

interface Asked {
  repository: { id: number; ownerId: number }
  plan: ActionsJobPlan
  token: string
  /** Not given as a secret, and hidden all the same. */
  runtimeToken: string
}

/** Wire: the token of the job is a secret under these names. */
const TOKEN_NAMES = ['GITEA_TOKEN', 'GITHUB_TOKEN']

/** The secrets of a job; a sentence where one cannot be opened, because the key of the server is another now. */
export async function openSecrets(
  { secrets: sealed }: Context,
  db: Db,
  { repository, plan, token, runtimeToken }: Asked,
): Promise<GivenSecrets | { problem: string }> {
  const rows = await readValues(db, 'secret', { repositoryId: repository.id, ownerId: repository.ownerId })
  const all = new Map(TOKEN_NAMES.map((name) => [name, token]))
  for (const { name, sealedValue } of rows) {
    const value = sealedValue && sealed.tryOpen('actions secret', sealedValue)
    if (typeof value !== 'string') return { problem: `The secret ${name} cannot be opened: set it again.` }
    if (!TOKEN_NAMES.includes(name)) all.set(name, value)
  }
  return { secrets: choose(all, plan.secrets), masks: masksOf([...all.values(), runtimeToken]) }
}

/** A called workflow may know a secret by another name, and has no others. */
function choose(all: ReadonlyMap<string, string>, passed: ActionsJobPlan['secrets']): Record<string, string> {
  if (passed === 'all') return Object.fromEntries(all)
  const names = [...TOKEN_NAMES.map((name) => [name, name] as const), ...Object.entries(passed)]
  return Object.fromEntries(
    names.flatMap(([name, from]) => {
      const value = all.get(from)
      return value === undefined ? [] : [[name, value] as const]
    }),
  )
}
