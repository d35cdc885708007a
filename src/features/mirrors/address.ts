import type { RemoteCredentials } from '../../git/model.ts'

/** `local`: a path or file of this server. `protocol`: another one than http and https. `syntax`: no address at all. */
export type AddressProblem = 'local' | 'protocol' | 'syntax'

export interface RemoteAddress {
  /** As git and curl read it too: the host in lower case or as a number, without user, password and a dot at its end. */
  url: string
  /** Of the address itself. */
  credentials: RemoteCredentials | undefined
}

const MAX_LENGTH = 2048

/** What DNS and addresses consist of: a first `-`, a comma or a star would mean something to curl. */
const HOST = /^(?:[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_-])?|\[[0-9a-f:.]+\])$/

/**
 * Reads where a repository is to be copied from or to. Whether the host may be reached is another question.
 * @param takesGit whether `git://` is an address too
 */
export function readAddress(text: string, { takesGit = false } = {}): RemoteAddress | { problem: AddressProblem } {
  if (takesGit && /^git:\/\//i.test(text)) return readGitUrl(text)
  if (/^\w[\w+.-]*:\/\//.test(text)) return /^https?:/i.test(text) ? readUrl(text) : otherScheme(text)
  return { problem: /^[^/]+:/.test(text) ? 'syntax' : 'local' }
}

const otherScheme = (text: string): { problem: AddressProblem } => ({
  problem: /^file:/i.test(text) ? 'local' : 'protocol',
})

function readUrl(text: string): RemoteAddress | { problem: AddressProblem } {
  const url = text.length <= MAX_LENGTH && !/[\s\p{Cc}\\]/u.test(text) ? URL.parse(text) : null
  if (url === null) return { problem: 'syntax' }
  const [username, password] = [decode(url.username), decode(url.password)]
  if (username === undefined || password === undefined) return { problem: 'syntax' }
  url.username = ''
  url.password = ''
  url.hostname = url.hostname.replace(/\.$/, '')
  // A query would stand before what git appends to the path.
  if (!HOST.test(url.hostname) || url.search !== '' || url.hash !== '') return { problem: 'syntax' }
  return { url: url.href, credentials: credentialsOf(username, password) }
}

/** What is read of a host is the same as for http. The default port of http would get lost on the way: it is none of Git's. */
function readGitUrl(text: string): RemoteAddress | { problem: AddressProblem } {
  const read = readUrl(text.replace(/^git:/i, 'http:'))
  if ('problem' in read) return read
  const isDoubtful = read.credentials !== undefined || /^git:\/\/[^/]*:0*80(\/|$)/i.test(text) || /%[01]/.test(read.url)
  return isDoubtful ? { problem: 'syntax' } : { ...read, url: read.url.replace(/^http:/, 'git:') }
}

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

/** Undefined where neither is given. */
export const credentialsOf = (username = '', password = ''): RemoteCredentials | undefined =>
  username === '' && password === '' ? undefined : { username, password }

/** Git reads them line by line. */
export const areUsable = (credentials: RemoteCredentials | undefined): boolean =>
  credentials === undefined || !/[\r\n\0]/.test(credentials.username + credentials.password)
