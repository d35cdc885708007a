import { TextDecoder } from 'node:util'

export interface Header {
  name: string
  value: string
}

/** A commit or a tag, taken apart. */
export interface ObjectText {
  headers: Header[]
  body: string
}

/**
 * Headers and message of a commit or a tag. LF alone ends a line, and a line that begins with a space continues the header
 * before it. The object is split by bytes and decoded after that: no encoding that it names can move a line.
 */
export function decodeText(content: Uint8Array): ObjectText {
  const text = splitText(utf8.decode(content))
  const label = text.headers.find(({ name }) => name === 'encoding')?.value
  const decoder = label === undefined ? undefined : decoderOf(label)
  if (!decoder) return text
  const raw = splitText(bytesAsText(content))
  const decode = (value: string): string => decoder.decode(Buffer.from(value, 'latin1'))
  return {
    headers: raw.headers.map(({ name, value }) => ({ name, value: decode(value) })),
    body: decode(raw.body),
  }
}

/** The same, for an object whose bytes are one character each, or that is UTF-8. */
export function splitText(text: string): ObjectText {
  const end = text.indexOf('\n\n')
  const head = end < 0 ? text : text.slice(0, end)
  const headers: Header[] = []
  for (const line of head.split('\n')) {
    const last = headers.at(-1)
    if (line.startsWith(' ') && last) last.value += `\n${line.slice(1)}`
    else {
      const space = line.indexOf(' ')
      headers.push({ name: space < 0 ? line : line.slice(0, space), value: space < 0 ? '' : line.slice(space + 1) })
    }
  }
  return { headers, body: end < 0 ? '' : text.slice(end + 2) }
}

/** Broken UTF-8 gets marks. A byte order mark is a character like any other. */
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** Undefined for UTF-8 and for an encoding that we do not know: then the object is read as UTF-8. */
function decoderOf(label: string): { encoding: string; decode(bytes: Uint8Array): string } | undefined {
  try {
    const decoder = new TextDecoder(label, { ignoreBOM: true })
    return decoder.encoding === 'utf-8' ? undefined : decoder
  } catch {
    return undefined // The label comes from the commit: an unknown one is no failure of ours.
  }
}

/** Each byte as one character, so that nothing is lost. */
export const bytesAsText = (content: Uint8Array): string =>
  Buffer.from(content.buffer, content.byteOffset, content.length).toString('latin1')
