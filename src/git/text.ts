export interface Header {
  name: string
  value: string
}

/** Headers and message of a commit or a tag. A header goes on over lines that begin with a space. */
export function decodeText(content: Uint8Array): { headers: Header[]; body: string } {
  const text = decode(content)
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

/** UTF-8 unless the object says otherwise; an encoding we do not know is read as UTF-8 with marks for what is broken. */
function decode(content: Uint8Array): string {
  const text = new TextDecoder().decode(content)
  const end = text.indexOf('\n\n')
  const label = /^encoding (\S+)$/m.exec(end < 0 ? text : text.slice(0, end))?.[1]
  if (label === undefined) return text
  return decoderOf(label)?.decode(content) ?? text
}

function decoderOf(label: string): { decode(bytes: Uint8Array): string } | undefined {
  try {
    return Reflect.construct(TextDecoder, [label])
  } catch {
    return undefined // The label comes from the commit: an unknown one is no failure of ours.
  }
}

/** Each byte as one character, so that nothing is lost. */
export const bytesAsText = (content: Uint8Array): string =>
  Buffer.from(content.buffer, content.byteOffset, content.length).toString('latin1')

/** What a signature was made over: the commit without its `gpgsig` headers, each byte as one character. */
export function stripSignature(content: Uint8Array): string {
  const text = bytesAsText(content)
  const end = text.indexOf('\n\n')
  const head = text.slice(0, end < 0 ? undefined : end)
  const kept: string[] = []
  let isSignature = false
  for (const line of head.split('\n')) {
    isSignature = line.startsWith(' ') ? isSignature : line.startsWith('gpgsig')
    if (!isSignature) kept.push(line)
  }
  return kept.join('\n') + (end < 0 ? '' : text.slice(end))
}
