import type { ObjectFormat } from '../model.ts'
import { DELIMITER, END, encodePacket, FLUSH, type Packet, PacketReader } from '../packet.ts'
import type { Deadline } from './deadline.ts'

/** Of a request that is held in memory: 5,000 wants. */
const MAX_BYTES = 256 * 1024

/** What can be answered without git, if git has answered the same before. */
export interface FetchQuestion {
  /** `refs`: a list of refs. `clone`: a pack for a client that names nothing it has, and asks for it at once. */
  kind: 'refs' | 'clone'
  /** Everything in it that the answer depends on: all but what the client calls itself. */
  asked: string
  /** All of it, so that it can be asked again. */
  lines: readonly Line[]
  /** Of a clone that asks for everything reachable from some objects, in a way that any pack of those will do. */
  plain?: PlainClone
}

export interface PlainClone {
  wants: readonly string[]
  format: ObjectFormat
}

export interface FetchRequest {
  /** Undefined for what only git can answer. */
  question: FetchQuestion | undefined
  /** The request as it came, for git. */
  body: ReadableStream<Uint8Array>
}

/**
 * Reads as much of a request of `git-upload-pack` as is needed to see what it asks for.
 * @param isSecond version 2 of the protocol
 */
export async function readFetchRequest(
  body: ReadableStream<Uint8Array>,
  { isSecond, deadline }: { isSecond: boolean; deadline: Deadline },
): Promise<FetchRequest> {
  const reader = body.getReader()
  const chunks: Uint8Array[] = []
  const stop = () => void reader.cancel(deadline.signal.reason).catch(() => undefined)
  deadline.signal.addEventListener('abort', stop, { once: true })
  let size = 0
  let isWhole = false
  while (!isWhole && size <= MAX_BYTES) {
    const { done, value } = await reader.read()
    deadline.signal.throwIfAborted()
    if (done) isWhole = true
    else chunks.push(value)
    size += value?.length ?? 0
  }
  deadline.signal.removeEventListener('abort', stop)
  return { question: isWhole ? understand(Buffer.concat(chunks), isSecond) : undefined, body: replay(chunks, reader) }
}

function replay(chunks: Uint8Array[], rest: ReadableStreamDefaultReader<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const known = chunks.shift()
        const { done, value } = known ? { done: false, value: known } : await rest.read()
        if (done || !value) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => rest.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

const MARKS = { flush: FLUSH, delimiter: DELIMITER, end: END }

/** The request that lines were read from. */
export const encodeLines = (lines: readonly Line[]): Buffer =>
  Buffer.concat(
    lines.map(({ kind, text }) => (kind === 'data' ? encodePacket(Buffer.from(text, 'latin1')) : MARKS[kind])),
  )

/** Undefined for every request that is not surely one of the two: git judges those. */
function understand(bytes: Uint8Array, isSecond: boolean): FetchQuestion | undefined {
  const lines = readLines(bytes)
  const kind = lines && (isSecond ? classifySecond(lines) : isClone(lines) ? 'clone' : undefined)
  if (!kind) return undefined
  const asked = JSON.stringify(lines.filter(({ text }) => !text.startsWith('agent=')))
  return { kind, asked, lines, ...(kind === 'clone' && isSecond && { plain: readPlainClone(lines) }) }
}

const PLAIN_ARGUMENT = /^(?:thin-pack|no-progress|include-tag|ofs-delta|done|want .*)$/
/** Whole ids: a shorter word, or a longer one, is the beginning of an id or a branch to the git that counts. */
const WANT = { sha1: /^want [0-9a-f]{40}$/, sha256: /^want [0-9a-f]{64}$/ }
const PLAIN_CAPABILITY = /^(?:agent=.*|session-id=.*|object-format=sha(?:1|256))$/

function readPlainClone(lines: readonly Line[]): PlainClone | undefined {
  const end = lines.findIndex(({ kind }) => kind === 'delimiter')
  const capabilities = lines.slice(1, end).map(({ text }) => text)
  const rest = lines.slice(end + 1, -1).map(({ text }) => text)
  // Stored packs name the base of a delta by its distance.
  if (end < 0 || !rest.includes('ofs-delta') || !rest.every((text) => PLAIN_ARGUMENT.test(text))) return undefined
  if (!capabilities.every((text) => PLAIN_CAPABILITY.test(text))) return undefined
  const format = capabilities.includes('object-format=sha256') ? 'sha256' : 'sha1'
  const wants = rest.filter((text) => text.startsWith('want '))
  if (!wants.every((text) => WANT[format].test(text))) return undefined
  return { wants: wants.map((text) => text.slice('want '.length)), format }
}

/** gitprotocol-v2(5): a command and capabilities, a delimiter, arguments, one flush. */
function classifySecond(lines: readonly Line[]): FetchQuestion['kind'] | undefined {
  const end = lines.findIndex(({ kind }) => kind === 'flush')
  if (end !== lines.length - 1) return undefined
  const [command, ...rest] = lines.slice(0, end)
  if (command?.text === 'command=ls-refs') return 'refs'
  if (command?.text !== 'command=fetch') return undefined
  return isClone(rest.slice(rest.findIndex(({ kind }) => kind === 'delimiter') + 1)) ? 'clone' : undefined
}

export interface Line {
  kind: Packet['kind']
  /** One character for each byte. */
  text: string
}

/** A round of negotiation, which names a `have` or does not end with `done`, is answered in a moment and seldom asked again. */
function isClone(lines: readonly Line[]): boolean {
  const texts = lines.map(({ text }) => text)
  return (
    texts.at(-1) === 'done' &&
    texts.some((text) => text.startsWith('want ')) &&
    !texts.some((text) => text.startsWith('have '))
  )
}

function readLines(bytes: Uint8Array): Line[] | undefined {
  const reader = new PacketReader()
  reader.push(bytes)
  const lines: Line[] = []
  try {
    for (let packet = reader.next(); packet; packet = reader.next())
      lines.push({
        kind: packet.kind,
        text: packet.kind === 'data' ? packet.payload.toString('latin1').replace(/\n$/, '') : '',
      })
  } catch {
    return undefined // No packets: git tells the client so.
  }
  return reader.unread.length === 0 ? lines : undefined
}
