import type { ObjectSignature } from './model.ts'
import { bytesAsText, type Header, splitText } from './text.ts'

/**
 * The signature in the header of a commit. It covers the commit without its `gpgsig` headers, as Git has it. Undefined where
 * there is none for the kind of ids of the repository.
 */
export function commitSignature(content: Uint8Array, header: 'gpgsig' | 'gpgsig-sha256'): ObjectSignature | undefined {
  const raw = bytesAsText(content)
  const text = splitText(raw)
  const signed = text.headers.find(({ name }) => name === header)
  if (!signed) return undefined
  return signatureOver(signed.value, withoutSignatures(raw), !isPlainCommit(raw, text.headers))
}

/** The signature behind the message of a tag: what comes before its last beginning is what it was made over. */
export function tagSignature(content: Uint8Array): ObjectSignature | undefined {
  const raw = bytesAsText(content)
  const begin = signatureBegin(raw)
  if (begin === undefined) return undefined
  const payload = raw.slice(0, begin)
  return signatureOver(raw.slice(begin), payload, !isPlainTag(payload))
}

/** How many bytes at the end of a tag are its signature. */
export function tagSignatureLength(content: Uint8Array): number {
  const raw = bytesAsText(content)
  return raw.length - (signatureBegin(raw) ?? raw.length)
}

/** @param payload with each byte as one character */
function signatureOver(text: string, payload: string, isAmbiguous: boolean): ObjectSignature {
  const shown = Buffer.from(payload, 'latin1').toString()
  const isUtf8 = Buffer.from(shown).toString('latin1') === payload
  return { text, payload: shown, ...(!isUtf8 && { rawPayload: payload }), ...(isAmbiguous && { isAmbiguous }) }
}

function withoutSignatures(text: string): string {
  const end = text.indexOf('\n\n')
  const head = end < 0 ? text : text.slice(0, end)
  const signed: string[] = []
  let isSignature = false
  for (const line of head.split('\n')) {
    isSignature = line.startsWith(' ') ? isSignature : line.startsWith('gpgsig')
    if (!isSignature) signed.push(line)
  }
  return signed.join('\n') + (end < 0 ? '' : text.slice(end))
}

function signatureBegin(text: string): number | undefined {
  const last = [...text.matchAll(/(^|\n)-----BEGIN (?:PGP|SSH) SIGNATURE-----/g)].at(-1)
  return last && last.index + (last[1]?.length ?? 0)
}

/** `Name <address> seconds zone`, with one address: programs differ in what they take from any other form. */
const PERSON = /^[^<>\n]*<[^<>\n]*> \d{1,12} [+-]\d{4}$/
const ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
const NAME = /^[A-Za-z][A-Za-z0-9:._-]*$/

/**
 * Whether every reader sees one and the same commit. A signature vouches for what people see, so a commit that Git, this service and
 * another program could read in different ways is not verified: with CR or NUL in its head, with headers repeated or out of order, with
 * more signatures than one for each kind of ids, or without an end of its head.
 */
function isPlainCommit(raw: string, [tree, ...others]: readonly Header[]): boolean {
  const afterParents = others.findIndex(({ name }) => name !== 'parent')
  if (tree?.name !== 'tree' || afterParents < 0) return false
  const [author, committer, ...more] = others.slice(afterParents)
  const ids = [tree, ...others.slice(0, afterParents)]
  return (
    ids.every(({ value }) => ID.test(value)) &&
    isPerson(author, 'author') &&
    isPerson(committer, 'committer') &&
    areExtrasPlain(more) &&
    isCleanText(raw)
  )
}

const isPerson = (header: Header | undefined, name: string): boolean =>
  header?.name === name && PERSON.test(header.value)

const FIRST_HEADERS: readonly string[] = ['tree', 'parent', 'author', 'committer']
const SINGLE_HEADERS: readonly string[] = ['encoding', 'gpgsig', 'gpgsig-sha256']

function areExtrasPlain(headers: readonly Header[]): boolean {
  const names = headers.map(({ name }) => name)
  const singles = names.filter((name) => SINGLE_HEADERS.includes(name))
  return (
    new Set(singles).size === singles.length &&
    names.every((name) => NAME.test(name) && !FIRST_HEADERS.includes(name)) &&
    // Git leaves out whatever begins so, and nobody has signed it.
    names.every((name) => !name.startsWith('gpgsig') || SINGLE_HEADERS.includes(name)) &&
    headers.every(({ name, value }) => name !== 'encoding' || !value.includes('\n'))
  )
}

/** Whether every reader sees one and the same tag; as above. */
function isPlainTag(payload: string): boolean {
  const [object, type, tag, tagger, ...more] = splitText(payload).headers
  return (
    object?.name === 'object' &&
    ID.test(object.value) &&
    type?.name === 'type' &&
    /^[a-z]+$/.test(type.value) &&
    tag?.name === 'tag' &&
    !tag.value.includes('\n') &&
    isPerson(tagger, 'tagger') &&
    more.every(({ name }) => name === 'encoding') &&
    more.length <= 1 &&
    isCleanText(payload)
  )
}

/** A message may have CR, which is signed and shown as it is; NUL would end the object for some. */
function isCleanText(raw: string): boolean {
  const end = raw.indexOf('\n\n')
  return end >= 0 && !raw.includes('\0') && !raw.slice(0, end).includes('\r')
}
