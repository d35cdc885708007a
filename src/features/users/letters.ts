import type { UserRow } from '../../../db/schema/users.ts'
import type { AuditSource } from '../../audit/record.ts'
import type { Letter } from '../../mail/letter.ts'

/** A mail to the owner of an account, at its primary address. */
const toOwner = (user: UserRow): Letter['to'] => ({ address: user.email, name: user.fullName })

const greeting = (user: UserRow): string => `Hello ${user.fullName || user.name},`

/** For who was given an account. Never its password, which mail would keep in the open. */
export const accountCreated = (user: UserRow, baseUrl: string): Letter => ({
  to: toOwner(user),
  subject: 'Your account is ready',
  paragraphs: [
    greeting(user),
    `an administrator has made an account for you, with the user name ${user.name}. You find the service here:`,
    { link: baseUrl },
    'The administrator tells you the password; it is in no mail.',
    ...(user.mustChangePassword
      ? ['At your first sign-in you must change it: until then the account can do nothing else.']
      : []),
  ],
})

/** What somebody who takes over an account would do first: its owner gets a mail about it, whoever did it. */
export interface SecurityChange {
  user: UserRow
  by: AuditSource
  baseUrl: string
}

export const passwordChanged = (change: SecurityChange): Letter =>
  notice(change, {
    subject: 'Your password was changed',
    what: 'has another password',
  })

export const twoFactorOff = (change: SecurityChange): Letter =>
  notice(change, {
    subject: 'Two-factor authentication was switched off',
    what: 'asks for no second factor any more: two-factor authentication was switched off',
  })

export const passkeyAdded = (change: SecurityChange, name: string): Letter =>
  notice(change, {
    subject: 'A passkey was added',
    what: `can be signed in to with a new passkey, ${name}`,
  })

export const identityConnected = (change: SecurityChange, source: string): Letter =>
  notice(change, {
    subject: 'Another way to sign in was added',
    what: `can be signed in to by ${source}`,
  })

/** To the address that was the primary one until now. */
export const primaryAddressChanged = (change: SecurityChange, newAddress: string): Letter =>
  notice(change, {
    subject: 'Your e-mail address was changed',
    what: `has another primary address, ${newAddress}: mails go there from now on`,
  })

function notice(change: SecurityChange, { subject, what }: { subject: string; what: string }): Letter {
  const { user, baseUrl } = change
  return {
    to: toOwner(user),
    subject,
    paragraphs: [
      greeting(user),
      `your account ${user.name} at ${baseUrl} ${what}. It was done ${whoDid(change)}.`,
      'If that was not to be, tell the administrator of the service at once.',
    ],
  }
}

function whoDid({ user, by }: SecurityChange): string {
  if (typeof by === 'string' || by.sudoer || by.user.id !== user.id) return 'by an administrator'
  return by.origin?.address ? `by you, from ${by.origin.address}` : 'by you'
}
