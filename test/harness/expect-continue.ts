import { connect } from 'node:net'

export interface HeldBack {
  /** Lines of the head without the last, empty one; the connection is to be closed. */
  head: string[]
  body: string | Buffer
}

const INTERIM = 'HTTP/1.1 100 Continue\r\n\r\n'

/**
 * Sends a head over a raw socket and its body only once the server asks for it with 100. Returns whether it did, and all that came
 * back besides.
 */
export function sendAfterContinue(port: number, { head, body }: HeldBack): Promise<{ asked: boolean; answer: string }> {
  return new Promise((resolve, reject) => {
    let received = ''
    let asked = false
    const socket = connect(port, '127.0.0.1', () => socket.write(`${head.join('\r\n')}\r\n\r\n`))
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
      if (asked || !received.startsWith(INTERIM)) return
      asked = true
      socket.write(body)
    })
    socket.on('close', () => resolve({ asked, answer: asked ? received.slice(INTERIM.length) : received }))
    socket.on('error', reject)
    socket.setTimeout(10_000, () => socket.destroy(new Error(`neither an end nor 100 after: ${received}`)))
  })
}
