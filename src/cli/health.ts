import { loadProcessConfig } from '../config.ts'
import { messageOf } from '../kernel/thrown.ts'
import type { Command } from './arguments.ts'

const LIMIT_MS = 5000

export const healthCommand: Command = {
  name: 'health',
  summary: 'Asks the server on this machine whether it is well; for probes of containers.',
  details: 'The exit status is 0 when it is, 1 when it is not or does not answer.',
  async run() {
    const { host, port } = loadProcessConfig()
    const local = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host
    try {
      const response = await fetch(`http://${local}:${port}/api/healthz`, { signal: AbortSignal.timeout(LIMIT_MS) })
      process.stdout.write(`${await response.text()}\n`)
      return response.ok ? 0 : 1
    } catch (error) {
      process.stderr.write(`${messageOf(error)}\n`)
      return 1
    }
  },
}
