import type { UserRow } from '../../db/schema/users.ts'
import type { RequestOrigin } from './origin.ts'

/** Tells the audit trail of sign-ins by password: what is out of the ordinary, so that no request costs a write. */
export interface SignInJournal {
  /** After the password was right; tells of an address that the person has not come from before. */
  signedIn(user: UserRow, origin: RequestOrigin): Promise<void>
  /** When an account, or all that comes from one network, begins to be slowed down. `user` is undefined for a name that nobody has. */
  slowedDown(subject: { user: UserRow | undefined } | { network: string }, origin: RequestOrigin): Promise<void>
}
