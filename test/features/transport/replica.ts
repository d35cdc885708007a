import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { TestService } from '../../harness/service.ts'

/** A second server on the database and the repositories of a test service, in a process of its own that can be killed. */
export interface Replica {
  url: string
  pid: number
  /** SIGKILL; returns when the process is gone. */
  kill(): Promise<void>
  /** SIGTERM; returns the exit code. */
  stop(): Promise<number>
  /** Resident memory now and at its highest, in bytes. */
  memory(): { now: number; peak: number }
}

const ENTRY = resolve(import.meta.dir, '../../../src/main.ts')

export async function startReplica(service: TestService, settings: Record<string, string> = {}): Promise<Replica> {
  const child = Bun.spawn([process.execPath, ENTRY, 'serve'], {
    cwd: service.folder,
    env: {
      PATH: process.env.PATH ?? '',
      PORT: '0',
      DATA_DIR: join(service.folder, 'data'),
      DATABASE_URL: service.databaseUrl,
      DATABASE_POOL_SIZE: '6',
      LOG_FORMAT: 'json',
      ...settings,
    },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const { promise: listening, resolve: found, reject } = Promise.withResolvers<string>()
  void child.exited.then((code) => reject(new Error(`the replica ended with ${code}`)))
  void findAddress(child.stdout, found)
  return {
    url: await listening,
    pid: child.pid,
    async kill() {
      child.kill('SIGKILL')
      await child.exited
    },
    async stop() {
      child.kill('SIGTERM')
      return child.exited
    },
    memory: () => ({ now: statusBytes(child.pid, 'VmRSS'), peak: statusBytes(child.pid, 'VmHWM') }),
  }
}

/** Reads the log for as long as it is written: a full pipe would stop the server. */
async function findAddress(stdout: ReadableStream<Uint8Array>, found: (url: string) => void): Promise<void> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of stdout) {
    text = (text + decoder.decode(chunk, { stream: true })).slice(-100_000)
    const url = /"url":"([^"]+)","publicUrl"/.exec(text)?.[1]
    if (url !== undefined) found(url)
  }
}

function statusBytes(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024
}

/** Processes whose command line has the text, such as the git children of one repository. */
export function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => commandLine(pid).includes(text))
    .map(Number)
}

function commandLine(pid: string): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // A zombie has ended; whoever started it has only not asked yet.
    return / Z /.test(stat) ? '' : readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return '' // Gone since the folder was read.
  }
}
