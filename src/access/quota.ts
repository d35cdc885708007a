import type { Config } from '../config.ts'
import { invalid } from '../kernel/errors.ts'

/**
 * Ends the transaction of a creation that makes one more than a person, an organization or a repository may have of a kind. Two at the
 * same instant may both be the last.
 * @param count how many there are with the new one
 * @throws Refusal 422
 */
export function requireOwnedQuota({ maxOwned }: Pick<Config, 'maxOwned'>, count: number, items: string): void {
  if (count > maxOwned) throw invalid(`at most ${maxOwned} ${items} (MAX_OWNED)`)
}
