import { existsSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** What a running server writes into `postmaster.pid`. */
export interface ServerFile {
  pid: number
  port: number
  isReady: boolean
}

const path = (dataFolder: string): string => join(dataFolder, 'postmaster.pid')

/** Lines: process, data folder, start time, port, socket folder, address, shared memory, state. */
export function readServerFile(dataFolder: string): ServerFile | undefined {
  let text: string
  try {
    text = readFileSync(path(dataFolder), 'utf8')
  } catch {
    return undefined // No file: no server, or it ended just now.
  }
  const [pid = '', , , port = '', , , , state = ''] = text.split('\n')
  return { pid: Number(pid), port: Number(port), isReady: state.trim() === 'ready' }
}

/** The server that is running on these files, if any. A file left by a killed server or a rebooted machine is removed. */
export function findServer(dataFolder: string): ServerFile | undefined {
  const file = readServerFile(dataFolder)
  if (file === undefined) return undefined
  if (file.pid > 1 && isServerOf(file.pid, dataFolder)) return file
  // PostgreSQL itself would refuse to start when the number now belongs to another process of the same user, which is
  // usual in a container, where numbers are small.
  rmSync(path(dataFolder), { force: true })
  return undefined
}

function isServerOf(pid: number, dataFolder: string): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  // Where there is no /proc the number has to do.
  if (!existsSync('/proc/self/cwd')) return true
  try {
    // A server works inside its data folder.
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(dataFolder)
  } catch {
    return false
  }
}
