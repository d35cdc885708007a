import type { GitError } from '../git/errors.ts'
import { badRequest, conflict, invalid, notFound, type Refusal, tooLarge, unavailable } from '../kernel/errors.ts'

/**
 * The refusal for a failure of Git that no rule has put into better words. Undefined when the client is not the cause: a missing
 * folder, an object that cannot be read, a program that failed.
 */
export function gitRefusal({ kind, code, message }: GitError): Refusal | undefined {
  switch (kind) {
    case 'not-found':
      return code === 'repository' || code === 'object' ? undefined : notFound()
    case 'invalid':
      return invalid(message)
    case 'conflict':
      return conflict(message)
    case 'too-large':
      return tooLarge(message)
    case 'busy':
      return unavailable('too many Git operations at once, try again')
    case 'timeout':
      return unavailable('the Git operation took too long')
    case 'aborted':
      return badRequest('the request was broken off')
    case 'failed':
      return undefined
  }
}
