import { writeSync } from 'node:fs'
import pino, { type DestinationStream, type Logger } from 'pino'
import type { Config } from './config.ts'

/** One line per call. Objects go first, so that their fields can be searched: `log.warn({ err }, 'what failed')`. */
export type Log = Pick<Logger, 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'>

/** Names under which a secret might be logged by mistake, at the top or one object deep. */
const SECRETS = ['password', 'token', 'secret', 'authorization', 'cookie'].flatMap((name) => [name, `*.${name}`])

/** How long a line may wait for others: a write for each line cost a tenth of a small request. */
const GATHER_MS = 20

/** Writes to standard output without a worker thread: pino's transports do not run in a compiled executable. */
export function createLog({ logLevel, logFormat }: Pick<Config, 'logLevel' | 'logFormat'>): Log {
  const isText = logFormat === 'text' || (logFormat === 'auto' && process.stdout.isTTY === true)
  const options = { level: logLevel, base: undefined, redact: { paths: SECRETS, censor: '(hidden)' } }
  if (isText) return pino(options, textLines())
  return pino({ ...options, timestamp: pino.stdTimeFunctions.isoTime }, gatheredLines())
}

/** JSON lines, several in one write. What still waits goes out when the process ends, whatever ends it but SIGKILL. */
function gatheredLines(): DestinationStream {
  let waiting: string[] = []
  let timer: Timer | undefined
  const flush = (write: (text: string) => void) => {
    clearTimeout(timer)
    timer = undefined
    const text = waiting.join('')
    waiting = []
    if (text !== '') write(text)
  }
  process.on('exit', () => flush((text) => writeSync(1, text)))
  return {
    write(line) {
      waiting.push(line)
      timer ??= setTimeout(() => flush((text) => process.stdout.write(text)), GATHER_MS)
    },
  }
}

/** For people at a terminal: time, level, message, then the fields. */
function textLines(): DestinationStream {
  return {
    write(line) {
      const { level, time, msg, err, ...fields }: Record<string, unknown> = JSON.parse(line)
      const clock = new Date(Number(time)).toTimeString().slice(0, 8)
      const name = pino.levels.labels[Number(level)] ?? ''
      const rest = Object.entries(fields).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`)
      process.stdout.write(`${clock} ${name.padEnd(5)} ${msg ?? ''}${rest.join('')}${describeError(err)}\n`)
    },
  }
}

function describeError(err: unknown): string {
  if (typeof err !== 'object' || err === null) return ''
  const stack = 'stack' in err ? err.stack : 'message' in err ? err.message : ''
  return `\n      ${String(stack).replaceAll('\n', '\n      ')}`
}
