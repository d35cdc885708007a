/** RFC 5321, 4.5.3.1.3: the longest path without its angle brackets. */
export const MAX_EMAIL_LENGTH = 254

const LOCAL_PART = "[A-Za-z0-9_][A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{0,63}"
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const ADDRESS = new RegExp(`^${LOCAL_PART}@${LABEL}(?:\\.${LABEL})*$`)

/**
 * Whether a text can be the address of an account: ASCII, no quoted local part, no comment, no address literal, and nothing that
 * a mail program could take for an option.
 */
export const isEmailAddress = (text: string): boolean => text.length <= MAX_EMAIL_LENGTH && ADDRESS.test(text)

export interface Mailbox {
  /** Empty when only the address is given. */
  name: string
  address: string
}

/** Reads `Name <address>` or a bare address; undefined for anything else, a name with marks of header fields included. */
export function parseMailbox(text: string): Mailbox | undefined {
  const [, name = '', inBrackets, bare] = /^(?:([^<>"\p{Cc}]*)<([^<>\s]+)>|(\S+))$/u.exec(text.trim()) ?? []
  const address = inBrackets ?? bare ?? ''
  return isEmailAddress(address) ? { name: name.trim(), address } : undefined
}
