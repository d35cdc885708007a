import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { serveProgram } from '../../harness/program.ts'
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

export async function startReplica(service: TestService, settings: Record<string, string> = {}): Promise<Replica> {
  const own = {
    DATA_DIR: join(service.folder, 'data'),
    DATABASE_URL: service.databaseUrl,
    DATABASE_POOL_SIZE: '6',
  }
  const { url, pid, kill, exited } = await serveProgram({ ...own, ...settings }, { cwd: service.folder })
  return {
    url,
    pid,
    async kill() {
      kill('SIGKILL')
      await exited
    },
    stop() {
      kill('SIGTERM')
      return exited
    },
    memory: () => ({ now: statusBytes(pid, 'VmRSS'), peak: statusBytes(pid, 'VmHWM') }),
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
