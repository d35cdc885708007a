import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { openGit } from '../assemble.ts'
import { type Config, ConfigError } from '../config.ts'
import { messageOf } from '../kernel/thrown.ts'
import { loadInstanceSigning } from '../signatures/instance.ts'
import { hostKeyPath, loadHostKey } from '../ssh/host-key.ts'
import type { Finding } from './finding.ts'

const LOW_SPACE_BYTES = 1024 ** 3

/** Whether a folder exists or can be made, takes a file, and is not open to everybody. */
export function checkFolder(subject: string, folder: string): Finding {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeProbe(folder)
  } catch (error) {
    return {
      subject,
      detail: `${folder} cannot be written: ${messageOf(error)}`,
      remedy: `make it writable for this user (number ${process.getuid?.()}), or set ${subject} to a folder that is`,
    }
  }
  const mode = statSync(folder).mode & 0o777
  // Others may pass through DATA_DIR (the user of the built-in PostgreSQL does), but not list or change it.
  if ((mode & 0o066) !== 0)
    return {
      subject,
      detail: `${folder} is open to other users (mode ${mode.toString(8)})`,
      remedy: `chmod go-rw ${folder}`,
    }
  return { subject, detail: `${folder} can be written` }
}

function writeProbe(folder: string): void {
  const probe = join(folder, `.doctor-${process.pid}`)
  const file = openSync(probe, 'wx', 0o600)
  try {
    writeSync(file, 'x')
    fsyncSync(file)
  } finally {
    closeSync(file)
    rmSync(probe)
  }
}

export function checkSpace(folder: string): Finding {
  const subject = 'Disk space'
  try {
    const { bavail, bsize } = statfsSync(folder)
    const free = bavail * bsize
    const detail = `${(free / 1024 ** 3).toFixed(1)} GiB free for ${folder}`
    return free >= LOW_SPACE_BYTES
      ? { subject, detail }
      : { subject, detail, remedy: 'free some space, or move the folder' }
  } catch (error) {
    return { subject, detail: messageOf(error), remedy: 'fix the folder first' }
  }
}

/** The key that signs commits made here: whether it can be used, and nobody else can read it. */
export function checkSigningKey(config: Config): Finding {
  const subject = 'SIGNING_KEY'
  const { signingKey: file } = config
  if (file === undefined) return { subject, detail: 'not set: commits made by the service are not signed' }
  try {
    const { key } = loadInstanceSigning(config)
    if ((statSync(file).mode & 0o077) === 0) return { subject, detail: `${key?.fingerprint} signs` }
    return { subject, detail: `${file} can be read by other users`, remedy: `chmod 600 ${file}` }
  } catch (error) {
    return { subject, detail: messageOf(error), remedy: "make one: ssh-keygen -t ed25519 -N '' -f FILE" }
  }
}

/** The key that clients of Git over SSH know the site by; nothing is made here. */
export function checkSsh(config: Config): Finding {
  const subject = 'SSH_ENABLED'
  if (!config.sshEnabled) return { subject, detail: 'off: Git is served over HTTP alone' }
  const file = hostKeyPath(config)
  const made = config.sshHostKey === undefined
  if (made && !existsSync(file)) return { subject, detail: 'on; the host key is made at the first start' }
  try {
    const { fingerprint } = loadHostKey(config)
    if ((statSync(file).mode & 0o077) === 0) return { subject, detail: `on; the host key is ${fingerprint}` }
    return { subject, detail: `${file} can be read by other users`, remedy: `chmod 600 ${file}` }
  } catch (error) {
    const remedy = made ? 'remove the file: clients will ask about the new key' : 'name another file, or none'
    return { subject, detail: messageOf(error), remedy }
  }
}

export async function checkGit(config: Config): Promise<Finding> {
  const subject = 'Git'
  try {
    const git = await openGit(config)
    const { version } = git
    await git.close()
    const hooks = config.enableGitHooks ? '; Git hooks may be set, and run with all that this program may do' : ''
    return { subject, detail: `version ${version}${hooks}` }
  } catch (error) {
    if (error instanceof ConfigError) return { subject, detail: error.fault, remedy: error.remedy ?? '' }
    throw error
  }
}
