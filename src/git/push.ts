import { GitError } from './errors.ts'
import { isObjectId, isValidRefName } from './names.ts'
import { BAND_LEAD_BYTES, encodePacket, FLUSH, MAX_PACKET_BYTES, malformed, PacketReader } from './packet.ts'

export interface PushCommand {
  /** null: the ref is to be made. */
  old: string | null
  /** null: the ref is to be deleted. */
  new: string | null
  ref: string
  /** A name outside UTF-8 or git's rules; it must be refused, since `ref` may not say what was meant. */
  isValidName: boolean
}

export interface PushHead {
  commands: PushCommand[]
  capabilities: Set<string>
  /** What the client gave by `-o`; only when it negotiated `push-options`. */
  options: string[]
  /** The whole body again: what was read for this answer, then the rest as it comes. */
  body: ReadableStream<Uint8Array>
}

export interface PushLimits {
  /** Commands in one push (10,000). */
  maxCommands?: number
  /** Bytes before the pack (4 MiB). */
  maxBytes?: number
}

/**
 * Reads the commands at the head of a push (gitprotocol-pack(5), "Reference Update Request") before anything is started.
 * A lone flush, with which git asks whether it may send a large body, has no commands. Throws `invalid` `protocol`, and
 * `too-large` `limit` past the limits.
 */
export async function readPushHead(body: ReadableStream<Uint8Array>, limits: PushLimits = {}): Promise<PushHead> {
  const source = new HeadReader(body, limits.maxBytes ?? 4 * 1024 * 1024)
  try {
    const commands: PushCommand[] = []
    let capabilities = new Set<string>()
    for (let line = await source.line(); line !== undefined; line = await source.line()) {
      const end = line.indexOf(0)
      if (end >= 0 && commands.length === 0) capabilities = new Set(words(line.toString('utf8', end + 1)))
      const text = end < 0 ? line : line.subarray(0, end)
      if (text.toString('latin1', 0, 8) === 'shallow ') continue
      commands.push(parseCommand(text))
      if (commands.length > (limits.maxCommands ?? 10_000)) throw tooLarge('too many refs in one push')
    }
    const options: string[] = []
    if (commands.length > 0 && capabilities.has('push-options')) {
      for (let line = await source.line(); line !== undefined; line = await source.line())
        options.push(line.toString().trimEnd())
    }
    return { commands, capabilities, options, body: source.replay() }
  } catch (error) {
    await source.cancel(error)
    throw error
  }
}

const words = (text: string) =>
  text
    .split(' ')
    .map((word) => word.trim())
    .filter(Boolean)
const tooLarge = (message: string) => new GitError('too-large', 'limit', message)

function parseCommand(line: Buffer): PushCommand {
  const text = line.toString().replace(/\n$/, '')
  const [old = '', next = ''] = text.split(' ', 2)
  const ref = text.slice(old.length + next.length + 2)
  if (!isObjectId(old) || !isObjectId(next) || old.length !== next.length || ref === '')
    throw malformed('not a push command')
  return { old: idOrNull(old), new: idOrNull(next), ref, isValidName: isValidRefName(ref) }
}

const idOrNull = (id: string) => (/^0+$/.test(id) ? null : id)

/** Its type is not the global one where a program's other types declare streams differently. */
const readerOf = (body: ReadableStream<Uint8Array>) => body.getReader()

class HeadReader {
  readonly #reader: ReturnType<typeof readerOf>
  readonly #packets = new PacketReader()
  readonly #consumed: Uint8Array[] = []
  readonly #maxBytes: number
  #bytes = 0

  constructor(body: ReadableStream<Uint8Array>, maxBytes: number) {
    this.#reader = readerOf(body)
    this.#maxBytes = maxBytes
  }

  /** The payload of the next packet; undefined at the flush that ends a section. */
  async line(): Promise<Buffer | undefined> {
    for (;;) {
      const packet = this.#packets.next()
      if (packet?.kind === 'flush') return undefined
      if (packet?.kind === 'data') return packet.payload
      if (packet) throw malformed('unexpected packet in a push')
      // Only an incomplete packet waits here, so the limit counts what precedes the pack and at most one chunk of it.
      if (this.#bytes - this.#packets.unread.length > this.#maxBytes) throw tooLarge('too many bytes before the pack')
      const { done, value } = await this.#reader.read()
      if (done) throw malformed('the push ends before its commands do')
      this.#bytes += value.length
      this.#consumed.push(value)
      this.#packets.push(value)
    }
  }

  replay(): ReadableStream<Uint8Array> {
    const pending = this.#consumed
    const reader = this.#reader
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const chunk = pending.shift()
          if (chunk) return controller.enqueue(chunk)
          const { done, value } = await reader.read()
          if (done) controller.close()
          else controller.enqueue(value)
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    )
  }

  async cancel(reason: unknown): Promise<void> {
    await this.#reader.cancel(reason).catch(() => undefined) // The body may have failed already; its error is on its way.
  }
}

/**
 * The answer to a push that is refused before git sees it, in git's own report format, so that the client prints the reason beside
 * each ref. All commands are refused together: a client that asked for some of them has its whole push unchanged.
 */
export function encodePushRefusal(
  head: Pick<PushHead, 'commands' | 'capabilities'>,
  reasonOf: (command: PushCommand) => string,
  remark?: string,
): Uint8Array {
  const sideBand = head.capabilities.has('side-band-64k')
  const parts: Uint8Array[] = []
  if (sideBand && remark) parts.push(...band(2, Buffer.from(`${remark.trimEnd()}\n`)))
  if (head.capabilities.has('report-status') || head.capabilities.has('report-status-v2')) {
    const lines = head.commands.map((command) => encodePacket(`ng ${command.ref} ${oneLine(reasonOf(command))}\n`))
    const report = Buffer.concat([encodePacket('unpack ok\n'), ...lines, FLUSH])
    parts.push(...(sideBand ? band(1, report) : [report]))
  }
  if (sideBand) parts.push(FLUSH)
  return Buffer.concat(parts)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they would end the line of the report or colour a terminal
const oneLine = (text: string) => text.replace(/[\x00-\x1f\x7f]+/g, ' ').slice(0, 500)

function band(number: number, bytes: Buffer): Buffer[] {
  const size = MAX_PACKET_BYTES - BAND_LEAD_BYTES
  const packets: Buffer[] = []
  for (let at = 0; at < bytes.length; at += size) {
    packets.push(encodePacket(Buffer.concat([Buffer.from([number]), bytes.subarray(at, at + size)])))
  }
  return packets
}
