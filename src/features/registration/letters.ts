import type { Letter } from '../../mail/letter.ts'
import { hoursInWords } from '../../mail/link-code.ts'

interface Asked {
  name: string
  email: string
  baseUrl: string
  hours: number
}

export const registrationAsked = ({ name, email, baseUrl, hours, link }: Asked & { link: string }): Letter => ({
  to: { address: email },
  subject: 'Confirm your account',
  paragraphs: [
    `somebody, most likely you, wants an account ${name} at ${baseUrl} with this address. To make it, open this page and give the password that was chosen:`,
    { link },
    `The link works once, and for ${hoursInWords(hours)}.`,
    'If it was not you, do nothing: without you there will be no such account.',
  ],
})

/** For somebody who has an account: nobody else learns of it. */
export const registrationOfHolder = ({ email, baseUrl, holder }: Asked & { holder: string }): Letter => ({
  to: { address: email },
  subject: 'You have an account already',
  paragraphs: [
    `somebody, perhaps you, wanted a new account at ${baseUrl} with this address. It belongs to your account ${holder}, so none was made.`,
    'If you have forgotten the password, you can get another one here:',
    { link: `${baseUrl}/user/forgot_password` },
    'If it was not you, do nothing.',
  ],
})
