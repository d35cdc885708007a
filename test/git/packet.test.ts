import { describe, expect, test } from 'bun:test'
import { GitError } from '../../src/git/errors.ts'
import { encodePacket, MAX_PACKET_BYTES, type Packet, PacketReader } from '../../src/git/packet.ts'
import { encodePushRefusal, readPushHead } from '../../src/git/push.ts'

const zero = '0'.repeat(40)
const one = '1'.repeat(40)
const packet = (text: string) => encodePacket(Buffer.from(text, 'latin1')).toString('latin1')
const push = (capabilities: string, ...commands: string[]) =>
  commands.map((command, index) => packet(index === 0 ? `${command}\0${capabilities}` : command)).join('')

/** A body that comes in portions of the given size. */
function bodyOf(text: string, size = text.length || 1): ReadableStream<Uint8Array> {
  const bytes = Buffer.from(text, 'latin1')
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close()
      controller.enqueue(bytes.subarray(at, at + size))
      at += size
    },
  })
}

async function refusalOf(text: string, limits = {}): Promise<string | undefined> {
  try {
    await readPushHead(bodyOf(text), limits)
    return undefined
  } catch (error) {
    if (error instanceof GitError) return error.code
    throw error
  }
}

describe('the head of a push', () => {
  const commands = [`${zero} ${one} refs/heads/new`, `${one} ${zero} refs/heads/old`, `${one} ${one} refs/heads/a b`]
  const body = `${push(' report-status side-band-64k agent=x', ...commands)}0000PACKrest\0of it`

  test.each([1, 3, 7, 64, 10_000])('is read in portions of %d bytes, and the body stays whole', async (size) => {
    const head = await readPushHead(bodyOf(body, size))
    expect(head.commands).toEqual([
      { old: null, new: one, ref: 'refs/heads/new', isValidName: true },
      { old: one, new: null, ref: 'refs/heads/old', isValidName: true },
      { old: one, new: one, ref: 'refs/heads/a b', isValidName: false },
    ])
    expect([...head.capabilities]).toEqual(['report-status', 'side-band-64k', 'agent=x'])
    expect(Buffer.from(await new Response(head.body).arrayBuffer()).toString('latin1')).toBe(body)
  })

  test('reads no further than it must', async () => {
    let pulled = 0
    const chunks = [Buffer.from(`${push('', commands[0] ?? '')}0000`), Buffer.from('PACK')]
    const stream = new ReadableStream<Uint8Array>(
      { pull: (controller) => controller.enqueue(chunks[pulled++] ?? Buffer.from('x')) },
      { highWaterMark: 0 },
    )
    const head = await readPushHead(stream)
    expect(pulled).toBe(1)
    await head.body.cancel()
  })

  test('knows options, shallow lines, names of bytes that are no text, and the empty probe', async () => {
    const options = `${push('push-options', `shallow ${one}`, `${zero} ${one} refs/heads/\xff`)}0000${packet('a=b')}0000`
    const head = await readPushHead(bodyOf(options))
    expect(head.commands.map((command) => command.isValidName)).toEqual([false])
    const plain = await readPushHead(bodyOf(`${push('push-options', commands[0] ?? '')}0000${packet('a=b')}0000`))
    expect(plain.options).toEqual(['a=b'])
    expect((await readPushHead(bodyOf('0000'))).commands).toEqual([])
  })

  test.each([
    ['a length that is no number', 'zzzz'],
    ['the length 3', '0003'],
    ['a length over the limit of the format', (MAX_PACKET_BYTES + 1).toString(16)],
    ['a delimiter', '0001'],
    ['an end in the middle', '00ff'],
    ['an end before the flush', push('', commands[0] ?? '')],
    ['no body', ''],
    ['a certificate', packet('push-cert\0report-status')],
    ['ids of two lengths', packet(`${zero} ${'1'.repeat(64)} refs/heads/x`)],
    ['a command without a ref', packet(`${zero} ${one} `)],
    ['upper case ids', packet(`${zero} ${'A'.repeat(40)} refs/heads/x`)],
  ])('is refused with %s', async (_, text) => {
    expect(await refusalOf(text)).toBe('protocol')
  })

  test('has a bound on commands and on bytes', async () => {
    const many = push('', ...Array.from({ length: 11 }, (_, n) => `${zero} ${one} refs/heads/${n}`))
    expect(await refusalOf(`${many}0000`, { maxCommands: 10 })).toBe('limit')
    expect(await refusalOf(packet('x'.repeat(1000)).repeat(10), { maxBytes: 500 })).toBe('protocol')
    expect(await refusalOf(packet(`shallow ${one}`).repeat(100), { maxBytes: 500 })).toBeDefined()
  })

  test('never fails in another way, whatever is sent', async () => {
    let seed = 7
    const random = (below: number) => {
      seed = (seed * 1103515245 + 12345) % 2147483648
      return seed % below
    }
    for (let round = 0; round < 2000; round++) {
      const bytes = Buffer.from(body, 'latin1')
      for (let change = random(8); change >= 0; change--) bytes[random(bytes.length)] = random(256)
      const text = bytes.subarray(0, random(bytes.length + 1)).toString('latin1')
      const code = await refusalOf(text, { maxBytes: 10_000 })
      expect(code === undefined || code === 'protocol' || code === 'limit').toBe(true)
    }
  })
})

describe('packets', () => {
  test('come out as they went in, in any portions', () => {
    const packets = ['a', '', 'x'.repeat(MAX_PACKET_BYTES - 4), '\0\xff']
    const bytes = Buffer.from(`${packets.map(packet).join('')}000000010002`, 'latin1')
    for (const size of [1, 5, 4096]) {
      const reader = new PacketReader()
      const found: Packet[] = []
      for (let at = 0; at < bytes.length; at += size) {
        reader.push(bytes.subarray(at, at + size))
        for (let next = reader.next(); next; next = reader.next()) found.push(next)
      }
      expect(found.map((one) => one.kind)).toEqual(['data', 'data', 'data', 'data', 'flush', 'delimiter', 'end'])
    }
    expect(() => encodePacket('x'.repeat(MAX_PACKET_BYTES))).toThrow()
  })
})

test('a refusal is one line for each ref, wrapped only where the client asked for it', () => {
  const commands = [{ old: null, new: one, ref: 'refs/heads/x', isValidName: true }]
  const reason = () => 'not\nhere\x1b[31m'
  const plain = encodePushRefusal({ commands, capabilities: new Set(['report-status']) }, reason)
  expect(Buffer.from(plain).toString()).toBe(`${packet('unpack ok\n')}${packet('ng refs/heads/x not here [31m\n')}0000`)
  const silent = encodePushRefusal({ commands, capabilities: new Set() }, reason, 'remark')
  expect(silent).toHaveLength(0)
  const wrapped = encodePushRefusal({ commands, capabilities: new Set(['report-status-v2', 'side-band-64k']) }, reason)
  expect(Buffer.from(wrapped).toString()).toBe(`${packet(`\x01${Buffer.from(plain).toString('latin1')}`)}0000`)
})
