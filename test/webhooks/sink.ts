import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listen } from '../harness/listen.ts'

export interface Delivered {
  method: string
  path: string
  headers: IncomingMessage['headers']
  body: string
  json: Record<string, unknown>
}

export interface Sink {
  url: string
  received: Delivered[]
  /** What it answers from now on. */
  answer(respond: (response: ServerResponse, delivered: Delivered) => void): void
  close(): Promise<void>
}

/** A receiver of deliveries that keeps what it is sent and answers 200. */
export async function openSink(): Promise<Sink> {
  const received: Delivered[] = []
  let respond: (response: ServerResponse, delivered: Delivered) => void = (response) => void response.end('ok')
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const isJson = request.headers['content-type'] === 'application/json'
      const one = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body,
        json: isJson ? JSON.parse(body) : {},
      }
      received.push(one)
      respond(response, one)
    })
  })
  const port = await listen(server)
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    answer(next) {
      respond = next
    },
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  }
}
