import { type Packet, PacketReader } from '../../packet.ts'
import { cancelAtDeadline, type Deadline } from '../process/deadline.ts'

/** Of a request that is held in memory: 5,000 wants. */
const MAX_BYTES = 256 * 1024

/** A request whose kind is known. */
export interface Asked {
  /** `refs`: a list of refs. `pack`: a pack that brings the client up to date. `clone`: a pack for one that names nothing it has. */
  kind: 'refs' | 'pack' | 'clone'
  /** Everything that the answer depends on: all but what the client calls itself. */
  text: string
  bytes: Uint8Array
}

export interface FetchRequest {
  /** Undefined for a round of negotiation, and for what only git can judge. */
  asked: Asked | undefined
  /** The request as it came, for git. */
  body: ReadableStream<Uint8Array> | Uint8Array
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
  const release = cancelAtDeadline(reader, deadline)
  let size = 0
  let isWhole = false
  while (!isWhole && size <= MAX_BYTES) {
    const { done, value } = await reader.read()
    deadline.signal.throwIfAborted()
    if (done) isWhole = true
    else chunks.push(value)
    size += value?.length ?? 0
  }
  release()
  if (!isWhole) return { asked: undefined, body: replay(chunks, reader) }
  const bytes = Buffer.concat(chunks)
  return { asked: understand(bytes, isSecond), body: bytes }
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

function understand(bytes: Uint8Array, isSecond: boolean): Asked | undefined {
  const lines = readLines(bytes)
  const kind = lines && (isSecond ? classifySecond(lines) : classifyPack(lines))
  if (!kind) return undefined
  return { kind, text: JSON.stringify(lines.filter(({ text }) => !text.startsWith('agent='))), bytes }
}

/** gitprotocol-v2(5): a command and capabilities, a delimiter, arguments, one flush. */
function classifySecond(lines: readonly Line[]): Asked['kind'] | undefined {
  const end = lines.findIndex(({ kind }) => kind === 'flush')
  if (end !== lines.length - 1) return undefined
  const [command, ...rest] = lines.slice(0, end)
  if (command?.text === 'command=ls-refs') return 'refs'
  if (command?.text !== 'command=fetch') return undefined
  return classifyPack(rest.slice(rest.findIndex(({ kind }) => kind === 'delimiter') + 1))
}

interface Line {
  kind: Packet['kind']
  /** One character for each byte. */
  text: string
}

/** Without `done` it is a round of negotiation, which is answered in a moment. */
function classifyPack(lines: readonly Line[]): 'pack' | 'clone' | undefined {
  const texts = lines.map(({ text }) => text)
  if (texts.at(-1) !== 'done' || !texts.some((text) => text.startsWith('want '))) return undefined
  return texts.some((text) => text.startsWith('have ')) ? 'pack' : 'clone'
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
    return undefined // No packets: git itself reports that to the client.
  }
  return reader.unread.length === 0 ? lines : undefined
}
