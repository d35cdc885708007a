import { invalid } from '../../kernel/errors.ts'
import { BlobReader, SshKeyError } from '../../kernel/ssh-blob.ts'
import { fingerprintOf, readSshKey } from '../../signatures/ssh/public-key.ts'

/** A line of 16384-bit RSA has 2.8 kB. Larger texts are refused before anything looks at them. */
export const MAX_KEY_TEXT_LENGTH = 16_384

export interface ParsedKey {
  kind: string
  /** `SHA256:` and base64 without padding, as ssh-keygen -l shows it. */
  fingerprint: string
  /** Empty when the line has none. */
  comment: string
  /** One line: kind, base64, and the comment if there is one. */
  line: string
}

/**
 * Reads an OpenSSH public key: one line `kind base64 [comment]`, without options before it.
 * @throws Refusal 422 saying what is wrong with it
 */
export function parsePublicKey(text: string): ParsedKey {
  try {
    return parse(text.slice(0, MAX_KEY_TEXT_LENGTH + 1).trim())
  } catch (error) {
    if (error instanceof SshKeyError) throw invalid(`Invalid key content: ${error.message}`)
    throw error
  }
}

function parse(text: string): ParsedKey {
  if (text.length > MAX_KEY_TEXT_LENGTH) throw new SshKeyError('it is too long')
  if (text.includes('PRIVATE KEY')) throw new SshKeyError('this is a private key, which nobody else may ever see')
  if (/[^\P{Cc}\t]/u.test(text)) throw new SshKeyError('a public key is one line')
  const [, kind = '', encoded = '', comment = ''] = /^(\S+)[ \t]+(\S+)(?:[ \t]+(.*))?$/.exec(text) ?? []
  if (kind === '' || !/^[A-Za-z0-9+/]+={0,2}$/.test(encoded))
    throw new SshKeyError('a public key is its kind, its content in base64, and a comment')
  const bytes = Buffer.from(encoded, 'base64')
  // Another spelling of the same bytes would be taken for another key.
  if (bytes.toString('base64').replace(/=+$/, '') !== encoded.replace(/=+$/, ''))
    throw new SshKeyError('its base64 is wrong')
  if (new BlobReader(bytes).text() !== kind) throw new SshKeyError('its content is of another kind than it says')
  readSshKey(bytes)
  const canonical = bytes.toString('base64')
  return { kind, fingerprint: fingerprintOf(bytes), comment, line: [kind, canonical, comment].join(' ').trim() }
}
