import { GitError } from '../../git/errors.ts'
import { Refusal } from '../../kernel/errors.ts'
import { OutboundError } from '../../outbound/outbound-error.ts'

/** What can be wrong with the other server, with the way to it and with what it holds. All else is a fault of ours. */
const OURS: ReadonlySet<string> = new Set(['repository', 'aborted', 'busy', 'program'])

/** Why an update failed, in words for whoever set it up; undefined for what is not due to the other server. */
export function reasonOf(error: unknown): string | undefined {
  if (error instanceof OutboundError) return error.message
  // Credentials that cannot be opened.
  if (error instanceof Refusal) return error.message
  if (!(error instanceof GitError) || OURS.has(error.code)) return undefined
  return error.kind === 'timeout' ? 'the transfer took too long' : error.message
}
