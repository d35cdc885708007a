import type { ActionsConclusion } from '../../../db/schema/actions.ts'
import { Result } from './messages/runner_pb.js'

const results: Readonly<Record<ActionsConclusion, Result>> = {
  success: Result.SUCCESS,
  failure: Result.FAILURE,
  cancelled: Result.CANCELLED,
  skipped: Result.SKIPPED,
}

export const resultOf = (conclusion: ActionsConclusion | null): Result =>
  conclusion === null ? Result.UNSPECIFIED : results[conclusion]

/** Null while it runs, and for numbers that mean nothing. */
export function conclusionOf(result: Result): ActionsConclusion | null {
  switch (result) {
    case Result.SUCCESS:
      return 'success'
    case Result.FAILURE:
      return 'failure'
    case Result.CANCELLED:
      return 'cancelled'
    case Result.SKIPPED:
      return 'skipped'
    default:
      return null
  }
}
