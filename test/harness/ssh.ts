import { chmodSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { utils } from 'ssh2'
import type { GitRun } from './git.ts'
import type { TestService, TestUser } from './service.ts'

/** A key in a file, as a person has it. */
export interface TestKey {
  /** Of the secret half. */
  file: string
  /** A line as in authorized_keys. */
  line: string
}

const CLIENT = `${process.execPath} ${resolve(import.meta.dir, 'ssh-client.ts')}`
const OPEN_SSH =
  'ssh -F none -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR'

/** Our own client everywhere, and OpenSSH where it is installed. */
export const sshPrograms: readonly string[] = Bun.which('ssh') === null ? [CLIENT] : [CLIENT, OPEN_SSH]
/** The real one, if it is there. */
export const sshProgram = sshPrograms.at(-1) ?? CLIENT

let counter = 0

export type KeyKind = 'ed25519' | 'ecdsa' | 'rsa'

/** In a file of the folder. */
export function makeKey({ folder }: { folder: string }, kind: KeyKind = 'ed25519'): TestKey {
  counter += 1
  const file = join(folder, `key${counter}`)
  const pair = generate(kind)
  writeFileSync(file, pair.private)
  chmodSync(file, 0o600)
  return { file, line: pair.public }
}

function generate(kind: KeyKind) {
  if (kind === 'rsa') return utils.generateKeyPairSync(kind, { bits: 3072 })
  if (kind === 'ecdsa') return utils.generateKeyPairSync(kind, { bits: 256 })
  return generateEd25519()
}

/** Its form, with the name of the kind: 4 + 11 + 4 + 32 bytes. */
const ED25519_BLOB = 51

/** ssh2 drops a leading zero of a half, which spoils one pair in 128: such a pair is no key. */
function generateEd25519(): { private: string; public: string } {
  const pair = utils.generateKeyPairSync('ed25519')
  const [, blob = ''] = pair.public.split(' ')
  const key = utils.parseKey(pair.private)
  const data = Buffer.from('probe')
  const works = !(key instanceof Error) && key.verify(data, key.sign(data)) === true
  return works && Buffer.from(blob, 'base64').length === ED25519_BLOB ? pair : generateEd25519()
}

/** Adds it by the API. Returns its id. */
export async function addKey(user: TestUser, key: TestKey): Promise<number> {
  const answer = await user.client.post('/user/keys', { title: `key ${crypto.randomUUID()}`, key: key.line })
  if (answer.status !== 201) throw new Error(`the key is refused: ${answer.text}`)
  return answer.number('id')
}

/** Variables with which git uses this key. */
export const withKey = (key: TestKey, program: string = sshProgram): Record<string, string> => ({
  GIT_SSH_COMMAND: `${program} -i ${key.file}`,
  GIT_SSH_VARIANT: 'ssh',
})

/** Where the service listens. */
export function sshAddress(service: TestService): { host: string; port: number } {
  const [, port] = /^ssh:\/\/git@localhost:(\d+)\/$/.exec(service.context.sshRoot) ?? []
  if (port === undefined) throw new Error(`no SSH at ${service.context.sshRoot}`)
  return { host: '127.0.0.1', port: Number(port) }
}

/** Runs the program itself, without git. */
export async function ssh(
  service: TestService,
  key: TestKey,
  { command, options = [], program = sshProgram }: { command?: string; options?: string[]; program?: string } = {},
): Promise<GitRun> {
  const { host, port } = sshAddress(service)
  const words = [...program.split(' '), '-i', key.file, '-p', String(port), ...options, `git@${host}`]
  const child = Bun.spawn([...words, ...(command === undefined ? [] : [command])], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { exitCode: await child.exited, stdout, stderr }
}
