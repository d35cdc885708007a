import pino, { type DestinationStream, type Logger } from 'pino'
import type { Config } from './config.ts'

/** One line per call. Objects go first, so that their fields can be searched: `log.warn({ err }, 'what failed')`. */
export type Log = Pick<Logger, 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'>

/** Names under which a secret might be logged by mistake, at the top or one object deep. */
const SECRETS = ['password', 'token', 'secret', 'authorization', 'cookie'].flatMap((name) => [name, `*.${name}`])

/** Writes to standard output without a worker thread: pino's transports do not run in a compiled executable. */
export function createLog({ logLevel, logFormat }: Pick<Config, 'logLevel' | 'logFormat'>): Log {
  const isText = logFormat === 'text' || (logFormat === 'auto' && process.stdout.isTTY === true)
  const options = { level: logLevel, base: undefined, redact: { paths: SECRETS, censor: '(hidden)' } }
  return isText ? pino(options, textLines()) : pino({ ...options, timestamp: pino.stdTimeFunctions.isoTime })
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
