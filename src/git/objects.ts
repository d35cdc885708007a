import type { Commit, ObjectFormat, ObjectType, Sign, Signature, Tag } from './model.ts'
import { commitSignature, tagSignature, tagSignatureLength } from './signed-text.ts'
import { decodeText, type Header } from './text.ts'

/** One line of a tree. `rawName` holds each byte as one character, since a name need not be UTF-8 and must survive a rewrite. */
export interface TreeItem {
  mode: string
  rawName: string
  sha: string
}

export function hashObject(format: ObjectFormat, type: ObjectType, content: Uint8Array): string {
  return new Bun.CryptoHasher(format).update(`${type} ${content.length}\0`).update(content).digest('hex')
}

export function parseTree(content: Uint8Array, idBytes: number): TreeItem[] {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length)
  const items: TreeItem[] = []
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at)
    const end = bytes.indexOf(0, space)
    if (space < 0 || end < 0 || end + idBytes >= bytes.length) throw new Error('broken tree object')
    const mode = bytes.toString('latin1', at, space).padStart(6, '0')
    items.push({
      mode,
      rawName: bytes.toString('latin1', space + 1, end),
      sha: bytes.toString('hex', end + 1, end + 1 + idBytes),
    })
    at = end + 1 + idBytes
  }
  return items
}

/** Git sorts a folder as if its name ended in a slash. */
export function encodeTree(items: Iterable<TreeItem>): Uint8Array {
  const key = (item: TreeItem) => (item.mode === '040000' ? `${item.rawName}/` : item.rawName)
  const sorted = [...items].map((item) => ({ item, key: key(item) }))
  sorted.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  return Buffer.concat(
    sorted.flatMap(({ item }) => [
      Buffer.from(`${item.mode.replace(/^0/, '')} ${item.rawName}\0`, 'latin1'),
      Buffer.from(item.sha, 'hex'),
    ]),
  )
}

/** `Name <email> seconds +hhmm`, without the signs that would break the line. A name is never empty: git refuses that. */
export function encodeSignature({ name, email, date, offsetMinutes = 0 }: Signature): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these must not reach the object
  const clean = (text: string) => text.replace(/[\x00-\x1f<>]/g, '').trim()
  const seconds = Math.max(0, Math.floor(date.getTime() / 1000)) || 0
  const offset = Math.abs(offsetMinutes)
  const zone = `${offsetMinutes < 0 ? '-' : '+'}${pad(Math.floor(offset / 60))}${pad(offset % 60)}`
  return `${clean(name) || clean(email) || 'unknown'} <${clean(email)}> ${seconds} ${zone}`
}

const pad = (value: number) => String(value).padStart(2, '0')

export function parseSignature(line: string): Signature {
  const match = /^(.*?) ?<([^>]*)>(?: *(-?\d+)(?: ([+-])(\d\d)(\d\d))?)?/.exec(line)
  if (!match) return { name: line, email: '', date: new Date(0), offsetMinutes: 0 }
  const [, name = '', email = '', seconds = '0', sign, hours = '0', minutes = '0'] = match
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1)
  const date = new Date(Number(seconds) * 1000)
  return { name, email, date: Number.isNaN(date.getTime()) ? new Date(0) : date, offsetMinutes: offset || 0 }
}

export interface NewCommit {
  tree: string
  parents: string[]
  author: Signature
  committer: Signature
  message: string
  sign?: Sign
}

/** A message ends in one newline, as git makes it. NUL bytes would end the object for many readers. */
export function encodeCommit({ tree, parents, author, committer, message, sign }: NewCommit): Uint8Array {
  const lines = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${encodeSignature(author)}`,
    `committer ${encodeSignature(committer)}`,
  ]
  const encode = (headers: readonly string[]) => Buffer.from(`${headers.join('\n')}\n\n${cleanMessage(message)}`)
  if (!sign) return encode(lines)
  return encode([...lines, `${signatureHeader(tree)} ${sign(encode(lines)).trimEnd().replaceAll('\n', '\n ')}`])
}

/** Git has a header for each kind of ids, known by their length. */
const signatureHeader = ({ length }: string) => (length === 64 ? 'gpgsig-sha256' : 'gpgsig')

export function encodeTag(tag: {
  name: string
  target: string
  type: ObjectType
  tagger?: Signature
  message: string
}) {
  const lines = [`object ${tag.target}`, `type ${tag.type}`, `tag ${tag.name}`]
  if (tag.tagger) lines.push(`tagger ${encodeSignature(tag.tagger)}`)
  return Buffer.from(`${lines.join('\n')}\n\n${cleanMessage(tag.message)}`)
}

export function cleanMessage(message: string): string {
  const text = message
    .replaceAll('\0', '')
    .replaceAll('\r\n', '\n')
    .replace(/^\n+|\s+$/g, '')
  return text === '' ? '' : `${text}\n`
}

export function parseCommit(sha: string, content: Uint8Array): Commit {
  const { headers, body } = decodeText(content)
  const first = (name: string) => headers.find((header) => header.name === name)?.value ?? ''
  const signature = commitSignature(content, signatureHeader(sha))
  return {
    sha,
    tree: first('tree'),
    parents: parentsOf(headers),
    author: parseSignature(first('author')),
    committer: parseSignature(first('committer')),
    message: body,
    ...(signature && { signature }),
  }
}

/** Those behind the tree; Git takes no others. */
function parentsOf([, ...headers]: readonly Header[]): string[] {
  const end = headers.findIndex(({ name }) => name !== 'parent')
  return headers.slice(0, end < 0 ? headers.length : end).map(({ value }) => value)
}

const OBJECT_TYPES: readonly string[] = ['commit', 'tree', 'blob', 'tag']
export const isObjectType = (text: string): text is ObjectType => OBJECT_TYPES.includes(text)

export function parseTag(sha: string, content: Uint8Array): Tag {
  const signature = tagSignature(content)
  // The message is that of the signed part, so that what is shown is what was signed.
  const { headers, body } = decodeText(content.subarray(0, content.length - tagSignatureLength(content)))
  const first = (name: string) => headers.find((header) => header.name === name)?.value
  const type = first('type') ?? ''
  const tagger = first('tagger')
  return {
    sha,
    name: first('tag') ?? '',
    target: { sha: first('object') ?? '', type: isObjectType(type) ? type : 'commit' },
    ...(tagger !== undefined && { tagger: parseSignature(tagger) }),
    message: body,
    ...(signature && { signature }),
  }
}
