import { connect } from 'node:net'

/** Gives numbers from 0 to 1, always the same ones for a seed (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export interface HostileOptions {
  url: string
  /** Path of a file of some megabytes that visitors may read. */
  rawPath: string
  seed: number
  seconds: number
  /** Connections at once. */
  width: number
}

/** Sizes of pieces, 1 ms apart, that once ended the process. */
const PIECES = [29, 138, 60, 183, 194, 36, 7, 90, 400]

/**
 * Opens random connections until the time is over: one to five requests each, mixed, cut anywhere, closed without reading.
 * Returns how many there were.
 */
export async function attack(options: HostileOptions): Promise<number> {
  const random = randomNumbers(options.seed)
  const end = performance.now() + options.seconds * 1000
  let count = 0
  const attackOnAndOn = async () => {
    while (performance.now() < end) {
      count += 1
      await attackOnce(options, random)
    }
  }
  await Promise.all(Array.from({ length: options.width }, attackOnAndOn))
  return count
}

async function attackOnce({ url, rawPath }: HostileOptions, random: () => number): Promise<void> {
  const { hostname, port } = new URL(url)
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(random() * items.length)]
  const requests = Array.from(
    { length: 1 + Math.floor(random() * 5) },
    () => pick(hostileRequests(rawPath, random)) ?? '',
  )
  const text = requests.join('')
  const length = random() < 0.5 ? text.length : Math.floor(random() * text.length)
  const isPaused = random() < 0.7
  const isSlow = random() < 0.7
  const lastWaitMs = pick([0, 0, 1, 5, 30]) ?? 0
  const socket = connect(Number(port), hostname)
  if (isPaused) socket.pause()
  else socket.resume()
  socket.on('error', () => undefined)
  for (let at = 0, piece = 0; at < length && !socket.destroyed; piece++) {
    const size = isSlow ? (PIECES[piece % PIECES.length] ?? 1) : 1 + Math.floor(random() * 2000)
    socket.write(text.slice(at, Math.min(length, at + size)), 'latin1')
    at += size
    if (isSlow || random() < 0.3) await Bun.sleep(1)
  }
  await Bun.sleep(lastWaitMs)
  if (random() < 0.5) socket.end()
  socket.destroy()
}

function hostileRequests(rawPath: string, random: () => number): string[] {
  const head = (line: string, ...fields: string[]) =>
    `${[`${line} HTTP/1.1`, 'Host: localhost', ...fields].join('\r\n')}\r\n\r\n`
  const json = 'Content-Type: application/json'
  const body = JSON.stringify({ Text: '# title\n'.repeat(1 + Math.floor(random() * 30)), Mode: 'gfm' })
  const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
  return [
    head('POST /api/v1/markdown', json, 'Expect: 100-continue', `Content-Length: ${body.length}`) + body,
    head('POST /api/v1/markdown', json, 'Expect: 100-continue', 'Transfer-Encoding: chunked') + chunked,
    head('POST /api/v1/markdown', json, 'Transfer-Encoding: chunked') + chunked,
    head('POST /api/v1/markdown', json, 'Connection: close', `Content-Length: ${body.length}`) + body,
    head('GET /api/v1/user'),
    head('GET /api/v1/user', 'Authorization: token 0123456789'),
    head('GET /api/v1/version', 'If-None-Match: *'),
    head('HEAD /api/v1/version'),
    head(`GET ${rawPath}`),
    head(`GET ${rawPath}`, 'Range: bytes=5-70000'),
    head('PUT /api/v1/notifications', 'Content-Length: 0'),
    `${head('PUT /api/v1/notifications', json, 'Expect: 100-continue', 'Content-Length: 5')}hello`,
    head('PUT /api/v1/notifications', json, 'Content-Length: 900000') + 'a'.repeat(Math.floor(random() * 9000)),
    head('POST /a/b.git/git-upload-pack', 'Content-Type: application/x-git-upload-pack-request', 'Content-Length: 4') +
      '0000',
    head(`GET /${'a'.repeat(9000)}`),
    head('GET /', `X-Large: ${'a'.repeat(20_000)}`),
    head('GET /', 'Connection: Upgrade', 'Upgrade: websocket'),
    'NONSENSE\r\n\r\n',
    'GET / HTTP/1.0\r\n\r\n',
    'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
  ]
}
