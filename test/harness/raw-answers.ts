import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  status: number
  headers: Map<string, string>
  body: Buffer
}

/** A connection that sends what it is told and keeps what comes back. */
export interface RawConnection {
  socket: Socket
  received(): Buffer
  /** Once the server has closed, or nothing more is expected. Throws unless all that came are whole answers, one after the other. */
  answers(count?: number): Promise<RawAnswer[]>
}

export function openRaw(port: number, { isPaused = false, methods = [] as string[] } = {}): RawConnection {
  const chunks: Buffer[] = []
  const socket = connect(port, '127.0.0.1')
  let isClosed = false
  const waiting: (() => void)[] = []
  const wake = () => {
    for (const check of waiting) check()
  }
  let pause: ReturnType<typeof setTimeout> | undefined
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    // Large answers come in thousands of pieces: they are looked at where the flow pauses.
    clearTimeout(pause)
    pause = setTimeout(wake, 2)
  })
  if (isPaused) socket.pause()
  socket.on('error', () => undefined)
  socket.on('close', () => {
    isClosed = true
    wake()
  })
  const received = () => Buffer.concat(chunks)
  const answers = (count = Number.POSITIVE_INFINITY) =>
    new Promise<RawAnswer[]>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`no end after ${received().subarray(0, 500)}`)), 10_000)
      const check = () => {
        if (!isClosed && chunks.length === 0) return
        const { answers, rest } = parseAnswers(received(), methods)
        if (!isClosed && (answers.length < count || rest > 0)) return
        clearTimeout(late)
        if (rest > 0) reject(new Error(`${rest} bytes are no answer: ${received().subarray(-rest).subarray(0, 300)}`))
        else resolve(answers)
      }
      waiting.push(check)
      socket.resume()
      check()
    })
  return { socket, received, answers }
}

/** RFC 9112, 6.3. `methods` tells which answers are to HEAD. Returns how many bytes behind the last whole answer are left. */
function parseAnswers(text: Buffer, methods: string[]): { answers: RawAnswer[]; rest: number } {
  const answers: RawAnswer[] = []
  let at = 0
  for (;;) {
    const end = text.indexOf('\r\n\r\n', at)
    const [line = '', ...fields] = end < 0 ? [] : text.toString('latin1', at, end).split('\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1])
    if (!status) return { answers, rest: text.length - at }
    const headers = new Map(
      fields.map((field) => [field.split(':')[0]?.toLowerCase() ?? '', field.replace(/^[^:]*: */, '')]),
    )
    const isBare = status < 200 || status === 204 || status === 304 || methods[answers.length] === 'HEAD'
    const framed = isBare ? { body: Buffer.alloc(0), next: end + 4 } : readBody(text, end + 4, headers)
    if (!framed) return { answers, rest: text.length - at }
    if (status >= 200) answers.push({ status, headers, body: framed.body })
    at = framed.next
  }
}

function readBody(text: Buffer, start: number, headers: Map<string, string>) {
  if (headers.get('transfer-encoding') === 'chunked') return readChunks(text, start)
  const next = start + Number(headers.get('content-length') ?? 0)
  return next > text.length ? undefined : { body: text.subarray(start, next), next }
}

function readChunks(text: Buffer, start: number) {
  const parts: Buffer[] = []
  let at = start
  for (;;) {
    const end = text.indexOf('\r\n', at)
    const size = end < 0 ? Number.NaN : Number.parseInt(text.toString('latin1', at, end), 16)
    const next = end + 2 + size + 2
    if (Number.isNaN(size) || next > text.length) return undefined
    if (text.toString('latin1', next - 2, next) !== '\r\n') return undefined
    parts.push(text.subarray(end + 2, next - 2))
    if (size === 0) return { body: Buffer.concat(parts), next }
    at = next
  }
}
