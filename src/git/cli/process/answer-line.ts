import { connect } from 'node:net'

/** More is no question of ours. */
const MAX_QUESTION_BYTES = 8192

/**
 * Waits for a line over a socket that a child has inherited, and sends the answer. A child that ends without asking is no error.
 * @param fd our end of the socket, which is closed with it
 */
export function answerLine(fd: unknown, answer: (line: string) => Promise<string>): void {
  if (typeof fd !== 'number') throw new Error('a socket was asked for')
  let asked = ''
  let isAnswered = false
  // The types of Node want a path here; Bun goes by the descriptor.
  const target = { fd, path: '' }
  const socket = connect(target)
  socket.on('error', () => undefined) // It is closed then, and the child gets no answer.
  socket.on('data', (bytes: Buffer) => {
    asked += bytes.toString()
    const end = asked.indexOf('\n')
    if (asked.length > MAX_QUESTION_BYTES) socket.destroy()
    if (end < 0 || isAnswered || socket.destroyed) return
    isAnswered = true
    void answer(asked.slice(0, end)).then((line) => socket.end(`${line}\n`))
  })
}
