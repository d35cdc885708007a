import type { ActionsJsonRecord } from '../../../db/schema/actions.ts'
import type { RepositoryRow } from '../../../db/schema/repositories.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import type { TriggerEvent } from '../../actions/workflows/match.ts'

/** Something that may start workflows of a repository. */
export interface Cause {
  repository: RepositoryRow
  owner: UserRow
  /** Undefined when the account is gone. */
  actor: UserRow | undefined
  /** The event of the outbox; null for a request. */
  eventId: number | null
  event: TriggerEvent
  /** What jobs read as `github.event`. */
  payload: ActionsJsonRecord
  /** What jobs read as `github.ref`. */
  ref: { kind: 'branch' | 'tag'; name: string }
  /** The commit that the workflows are of. */
  sha: string
  /** Names runs whose workflow does not. */
  title: string
  /** Of runs that other runs start: how many came before, and the first of them. */
  chain?: { length: number; rootId: number }
  /** Of `workflow_dispatch`. */
  inputs?: ActionsJsonRecord
}
