import { spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** The user that PostgreSQL runs as when we are root, because it refuses to run as root. */
export interface Account {
  uid: number
  gid: number
}

const NAME = 'postgres'

/** Commands that make a system user without a login, for the families of Linux that have them. */
const CREATE: readonly (readonly string[])[] = [
  ['useradd', '--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', NAME],
  ['adduser', '-S', '-D', '-H', NAME],
]

/** Undefined for an ordinary user, who runs PostgreSQL directly. */
export function databaseAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined
  const existing = findAccount()
  if (existing !== undefined) return existing
  for (const [program = '', ...args] of CREATE) {
    spawnSync(program, args, { stdio: 'ignore' })
    const created = findAccount()
    if (created !== undefined) return created
  }
  throw new Error(
    `PostgreSQL does not run as root, and no system user "${NAME}" could be made. Create it, start as an ordinary user, or set DATABASE_URL`,
  )
}

function findAccount(): Account | undefined {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${NAME}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}

/** Whether the account may enter a folder: every folder above it, and itself, must be open to it. */
export function canEnter(account: Account | undefined, folder: string): boolean {
  if (account === undefined) return true
  const { uid, gid, mode } = statSync(folder)
  const shift = uid === account.uid ? 6 : gid === account.gid ? 3 : 0
  const isOpen = ((mode >> shift) & 1) === 1
  const parent = dirname(folder)
  return isOpen && (parent === folder || canEnter(account, parent))
}
