import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** What a running server writes into `postmaster.pid`. */
export interface ServerFile {
  pid: number
  port: number
  /** Folder of its socket; undefined where it listens on the loopback address. */
  socketFolder: string | undefined
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
  const [pid = '', , , port = '', socketFolder = '', , , state = ''] = text.split('\n')
  return {
    pid: Number(pid),
    port: Number(port),
    socketFolder: socketFolder === '' ? undefined : socketFolder,
    isReady: state.trim() === 'ready',
  }
}

/** The server that is running on these files, if any. */
export function findServer(dataFolder: string): ServerFile | undefined {
  const file = readServerFile(dataFolder)
  if (file === undefined || !isAlive(file.pid)) return undefined
  if (worksIn(file.pid, dataFolder)) return file
  // The server was killed, and another process has its number now. That is usual in a container, where numbers are small.
  // PostgreSQL would refuse to start. It removes the file itself where no process has the number.
  rmSync(path(dataFolder), { force: true })
  if (file.socketFolder !== undefined) rmSync(join(file.socketFolder, `.s.PGSQL.${file.port}.lock`), { force: true })
  return undefined
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    // Not there, or another user's: our server is our own user's, or we are root.
    return false
  }
}

/** A server works inside its data folder. Compared by inode: seen from another container, the path may be another. */
function worksIn(pid: number, dataFolder: string): boolean {
  // Where there is no /proc the number has to do.
  if (!existsSync('/proc/self/cwd')) return true
  try {
    const [its, ours] = [statSync(`/proc/${pid}/cwd`), statSync(dataFolder)]
    return its.dev === ours.dev && its.ino === ours.ino
  } catch {
    return false
  }
}
