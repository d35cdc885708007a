/** A piece of text that has a meaning of its own. Offsets are in UTF-16 units. */
export type Found = { start: number; end: number } & (
  | { kind: 'url'; url: string }
  | { kind: 'mail'; url: string }
  | { kind: 'user'; name: string }
  | { kind: 'issue'; mark: '#' | '!'; index: number; owner?: string; repo?: string }
  | { kind: 'commit'; sha: string; owner?: string; repo?: string }
  | { kind: 'emoji'; name: string }
  | { kind: 'page'; title: string; page: string }
)

/**
 * Signs of something to find. What has to stand around a sign is checked afterwards: this pattern runs over every character, and
 * a look-behind in it took longer than all the rest.
 */
const SIGN = /[@#!]|:(?:\/\/|[\w+-]{2,40}:)|\[\[|[Ww]{3}\.|[0-9a-f]{7,64}/g

/**
 * Finds what may be a link or a reference in plain text, in order and without overlap. Looks back from a sign only as far as
 * names may be long, so the time is linear in the length of the text.
 */
export function findAll(text: string): Found[] {
  const found: Found[] = []
  let from = 0
  SIGN.lastIndex = 0
  for (let sign = SIGN.exec(text)?.[0]; sign !== undefined; sign = SIGN.exec(text)?.[0]) {
    const end = SIGN.lastIndex
    const item = end - sign.length < from ? undefined : read(text, end - sign.length, { sign, from })
    // The second colon of what is no emoji may be the first colon of one, or belong to an address.
    if (item === undefined && sign.length > 2 && sign.endsWith(':')) SIGN.lastIndex = end - sign.length + 1
    if (item === undefined || item.start < from) continue
    found.push(item)
    from = item.end
  }
  return found
}

function read(text: string, at: number, { sign, from }: { sign: string; from: number }): Found | undefined {
  const end = at + sign.length
  switch (sign.charAt(0)) {
    case '@':
      return readAt(text, at, from)
    case '#':
    case '!':
      return readIssue(text, at, from)
    case '[':
      return readPage(text, at)
    case 'w':
    case 'W':
      return readUrl(text, at, sign)
    case ':': {
      if (sign === '://') return readScheme(text, at)
      const isAlone = !/[\w:]/.test(text[at - 1] ?? '') && !/[\w:]/.test(text[end] ?? '')
      return isAlone ? { kind: 'emoji', name: sign.slice(1, -1).toLowerCase(), start: at, end } : undefined
    }
    default:
      return readCommit(text, at, end)
  }
}

function readScheme(text: string, colon: number): Found | undefined {
  const scheme = /https?$/i.exec(text.slice(Math.max(0, colon - 5), colon))?.[0]
  return scheme === undefined ? undefined : readUrl(text, colon - scheme.length, `${scheme}://`)
}

/** `[[Page]]` or `[[title|Page]]`, the wiki's own links. */
function readPage(text: string, at: number): Found | undefined {
  const inner = /^[^[\]|\n]{1,200}(?:\|[^[\]|\n]{1,200})?(?=\]\])/.exec(text.slice(at + 2, at + 406))?.[0]
  if (inner === undefined) return undefined
  const [title = '', page = title] = inner.split('|').map((part) => part.trim())
  return { kind: 'page', title, page, start: at, end: at + inner.length + 4 }
}

/** A decimal number or an English word in hexadecimal letters is hardly ever a commit. */
function readCommit(text: string, start: number, end: number): Found | undefined {
  if (/[\w/.-]/.test(text[start - 1] ?? '') || /^(?:[\w/-]|\.\w)/.test(text.slice(end, end + 2))) return undefined
  const sha = text.slice(start, end)
  return /\d/.test(sha) && /[a-f]/.test(sha) ? { kind: 'commit', sha, start, end } : undefined
}

/** GFM 6.9: a valid domain follows, and punctuation at the end is not part of the address. */
function readUrl(text: string, at: number, sign: string): Found | undefined {
  const before = text[at - 1]
  if (before !== undefined && !/[\s*_~(["']/.test(before)) return undefined
  const tail = /^[^\s<]{1,2000}/.exec(text.slice(at + sign.length, at + sign.length + 2000))?.[0] ?? ''
  const address = withoutPunctuation(tail)
  const domain = /^[^/?#]*/.exec(address)?.[0] ?? ''
  const host = domain.replace(/:\d{1,5}$/, '')
  const isDomain = /^[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*$/u.test(host) && !/_[^.]*(?:\.[^.]*)?$/.test(host)
  if (!isDomain || (sign.endsWith('.') && !host.includes('.') && host.length < 2)) return undefined
  const written = sign + address
  return { kind: 'url', url: sign.endsWith('/') ? written : `http://${written}`, start: at, end: at + written.length }
}

function withoutPunctuation(url: string): string {
  let surplus: number | undefined
  for (let end = url.length; end > 0; end--) {
    const last = url[end - 1] ?? ''
    if (last === ')') {
      surplus ??= count(url, ')') - count(url, '(')
      if (surplus <= 0) return url.slice(0, end)
      surplus--
    } else if (last === ';') {
      const reference = /&[a-z\d]{1,30};$/i.exec(url.slice(Math.max(0, end - 32), end))
      if (reference) end -= reference[0].length - 1
    } else if (!/[?!.,:*_~'"\]]/.test(last)) return url.slice(0, end)
  }
  return ''
}

const count = (text: string, character: string): number => text.split(character).length - 1

/** `@name`, `owner/repo@sha`, or a mail address that ends here. */
function readAt(text: string, at: number, from: number): Found | undefined {
  const commit = readCommitElsewhere(text, at, from)
  if (commit !== undefined) return commit
  const local = /[a-z\d._+-]{1,64}$/i.exec(text.slice(Math.max(from, at - 65), at))?.[0]
  const after = text.slice(at + 1, at + 256)
  if (local !== undefined) return readMail(text, at, { local, after, from })
  if (/[\w/@.`-]$/.test(text.slice(at - 1, at))) return undefined
  const name = /^[a-z\d](?:[\w.-]{0,98}\w)?/i.exec(after)?.[0]
  return name === undefined ? undefined : { kind: 'user', name, start: at, end: at + 1 + name.length }
}

/** GFM 6.9: `mailto:` and `xmpp:` before an address belong to it, and one step of a path after the latter. */
function readMail(
  text: string,
  at: number,
  { local, after, from }: { local: string; after: string; from: number },
): Found | undefined {
  const host = /^[a-z\d](?:[a-z\d-]{0,62}\.)*[a-z\d_-]{0,63}/i.exec(after)?.[0].replace(/\.+$/, '') ?? ''
  const isMail = /^[a-z\d-]+(?:\.[a-z\d-]+)+$/i.test(host) && !/[-_]$/.test(host)
  if (!isMail) return undefined
  const begin = at - local.length
  const scheme = /(?<![\w.+-])(?:mailto|xmpp):$/i.exec(text.slice(Math.max(from, begin - 8), begin))?.[0] ?? ''
  const path = /^xmpp:/i.test(scheme) ? /^\/[a-z\d@.]*[a-z\d@]/i.exec(after.slice(host.length)) : null
  const [start, end] = [begin - scheme.length, at + 1 + host.length + (path?.[0].length ?? 0)]
  return { kind: 'mail', url: `${scheme || 'mailto:'}${text.slice(begin, end)}`, start, end }
}

function readCommitElsewhere(text: string, at: number, from: number): Found | undefined {
  const sha = /^[0-9a-f]{7,64}(?![\w/-]|\.\w)/.exec(text.slice(at + 1, at + 68))?.[0]
  if (sha === undefined) return undefined
  const [owner, repo] = repositoryBefore(text, at, from)
  const start = at - `${owner}/${repo}`.length
  return owner && repo ? { kind: 'commit', sha, owner, repo, start, end: at + 1 + sha.length } : undefined
}

/** What stands before a sign, up to the next blank or opening bracket. */
const wordBefore = (text: string, at: number, from: number): string =>
  /[^\s([{:'",;]{0,210}$/.exec(text.slice(Math.max(from, at - 210), at))?.[0] ?? ''

function repositoryBefore(text: string, at: number, from: number): (string | undefined)[] {
  return /^([\w.-]{1,100})\/([\w.-]{1,100})$/.exec(wordBefore(text, at, from))?.slice(1) ?? []
}

/** `#12`, `!12`, `owner/repo#12`. */
function readIssue(text: string, at: number, from: number): Found | undefined {
  const digits = /^\d{1,10}(?![\w-])/.exec(text.slice(at + 1, at + 13))?.[0]
  if (digits === undefined) return undefined
  const mark = text[at] === '!' ? '!' : '#'
  const index = Number(digits)
  const end = at + 1 + digits.length
  const before = wordBefore(text, at, from)
  if (before === '') return { kind: 'issue', mark, index, start: at, end }
  const [owner, repo] = repositoryBefore(text, at, from)
  return owner && repo ? { kind: 'issue', mark, index, owner, repo, start: at - before.length, end } : undefined
}
