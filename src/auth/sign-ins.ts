import type { UserRow } from '../../db/schema/users.ts'
import type { RequestOrigin } from './origin.ts'

/** Records in the audit trail what is unusual about sign-ins by password or by a provider. Ordinary ones cost no write. */
export interface SignInJournal {
  /** Called after the password was right, or a provider has said who it is. Records an address that the person has not come from before. */
  signedIn(user: UserRow, origin: RequestOrigin, method: 'password' | 'provider'): Promise<void>
  /** When an account, or all that comes from one network, begins to be slowed down. `user` is undefined for a name that nobody has. */
  slowedDown(subject: { user: UserRow | undefined } | { network: string }, origin: RequestOrigin): Promise<void>
}
