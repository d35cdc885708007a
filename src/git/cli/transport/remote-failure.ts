import { GitError } from '../../errors.ts'
import type { RemoteCredentials } from '../../model.ts'

/** What git says (2.39-2.50, LC_ALL=C), and what the owner of a mirror reads. The first that matches. */
const REASONS: readonly (readonly [RegExp, GitError['kind'], string])[] = [
  [/Out of memory|malloc failed|mmap failed/, 'too-large', 'what the other server sends would need too much memory'],
  [/File too large/, 'too-large', 'the other server sends more than is allowed here'],
  [
    /Authentication failed|could not read Username|could not read Password/,
    'failed',
    'the other server asks for credentials, or refuses those it was given',
  ],
  [/returned error: 403/, 'failed', 'the other server forbids it (403)'],
  [/repository '.*' not found|returned error: 404/, 'failed', 'the other server knows no such repository'],
  [
    /unable to update url base from redirection|returned error: 30\d/,
    'failed',
    'the other server redirects to another address, which is not followed: give the final address',
  ],
  [
    /mismatched algorithms|unsupported object format|unknown object format/,
    'failed',
    'the other repository has another object format',
  ],
  [
    /transfer closed|Operation too slow|early EOF|unexpected disconnect/i,
    'failed',
    'the other server broke off, or sent too slowly',
  ],
  [/SSL|certificate/, 'failed', 'the certificate of the other server is not accepted'],
  [
    /Could not resolve host|Failed to connect|Couldn't connect|Connection refused|Empty reply/,
    'failed',
    'the other server cannot be reached',
  ],
  [
    /not valid: is this a git repository|invalid server response|protocol error|bad line length/,
    'failed',
    'the other server does not speak Git',
  ],
  [/\[remote rejected\]|remote rejected/, 'failed', 'the other server rejects the push'],
  [/fsck error|invalid .*pack|bad object|index-pack/, 'failed', 'the other server sends objects that are damaged'],
]

/** Of what the other server said itself. */
const MAX_WORDS = 300

/**
 * The failure in words for whoever set up the mirror: without addresses inside, folders of this server, and secrets. Limits and
 * deadlines of ours keep their kind.
 */
export function remoteFailure(error: GitError, credentials: RemoteCredentials | undefined): GitError {
  if (error.code !== 'program') return error
  const stderr = error.stderr ?? ''
  const [, kind, reason] = REASONS.find(([pattern]) => pattern.test(stderr)) ?? [
    null,
    'failed' as const,
    'the transfer failed',
  ]
  const words = remoteWords(stderr, credentials)
  const message = words === '' ? reason : `${reason}: ${words}`
  return new GitError(kind, 'remote', message, { stderr: withoutSecrets(stderr, credentials) })
}

/** The lines of the other server (`remote: ...`). */
function remoteWords(stderr: string, credentials: RemoteCredentials | undefined): string {
  const lines = stderr.split('\n').flatMap((line) => /^remote: *(.*\S)/.exec(line)?.[1] ?? [])
  const text = withoutSecrets(lines.join(' '), credentials)
  return text
    .replace(/[\p{Cc}\p{Cf}\ufffd]/gu, '')
    .slice(0, MAX_WORDS)
    .toWellFormed()
}

/** With stars for what the other server repeats of the credentials. */
function withoutSecrets(text: string, credentials: RemoteCredentials | undefined): string {
  const secrets = [credentials?.password ?? '', credentials?.username ?? ''].filter((secret) => secret !== '')
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, '***'), text)
}
