import { generateKeyPairSync, sign as signBytes } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { createMessage, generateKey, type PrivateKey, sign as signMessage } from 'openpgp'
import { blobString } from '../../src/kernel/ssh-blob.ts'
import { writeSshSignature } from '../../src/signatures/ssh/signature.ts'
import type { TestRepository, TestService } from '../harness/service.ts'

/** Gives the armored signature over a content. */
export type Signer = (content: Uint8Array) => Promise<string>

export interface GpgPerson {
  armored: string
  keyId: string
  secret: PrivateKey
  sign: Signer
}

/** A key made yesterday, so that clocks do not matter. */
const yesterday = () => new Date(Date.now() - 86_400_000)

export async function makeGpgKey(emails: readonly string[], withSubkey = false, rsaBits = 0): Promise<GpgPerson> {
  const weak = { type: 'rsa', rsaBits, config: { minRSABits: rsaBits } } as const
  const { privateKey, publicKey } = await generateKey({
    ...(rsaBits === 0 ? { type: 'curve25519' } : weak),
    userIDs: emails.map((email) => ({ name: 'Somebody', email })),
    subkeys: withSubkey ? [{ sign: true }, {}] : [],
    date: yesterday(),
    format: 'object',
  })
  return {
    armored: publicKey.armor(),
    keyId: publicKey.getKeyID().toHex().toUpperCase(),
    secret: privateKey,
    async sign(content) {
      const message = await createMessage({ binary: content })
      return String(await signMessage({ message, signingKeys: privateKey, detached: true }))
    },
  }
}

export interface SshPerson {
  /** A line as in authorized_keys. */
  line: string
  sign: Signer
}

export function makeSshKey(): SshPerson {
  const kind = 'ssh-ed25519'
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const point = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')
  const blob = Buffer.concat([blobString(kind), blobString(point)])
  const sign = (bytes: Uint8Array) => signBytes(null, bytes, privateKey)
  return {
    line: `${kind} ${blob.toString('base64')}`,
    sign: (content) => Promise.resolve(writeSshSignature(content, { kind, blob, sign })),
  }
}

export interface HandmadeCommit {
  email: string
  message?: string
  header?: string
  /** More lines of the head. */
  head?: string
  parents?: readonly string[]
  encoding?: BufferEncoding
  /** Changes what was signed. */
  change?(content: string): string
}

/** Puts commits and tags together by hand, as no program would, and pushes them. */
export class SignedObjects {
  readonly #service: TestService
  readonly #repository: TestRepository
  readonly #folder: string
  readonly #format: string

  constructor(service: TestService, repository: TestRepository, format = 'sha1') {
    this.#service = service
    this.#repository = repository
    this.#folder = mkdtempSync(join(service.git.folder, 'signed-'))
    this.#format = format
  }

  git(...args: string[]): Promise<string> {
    return this.#service.git(args, { cwd: this.#folder })
  }

  async write(type: 'commit' | 'tag', content: Buffer): Promise<string> {
    await this.git('init', '-q', '--bare', `--object-format=${this.#format}`)
    const input = new Blob([new Uint8Array(content)])
    return this.#service.git(['hash-object', '--literally', '-t', type, '-w', '--stdin'], { cwd: this.#folder, input })
  }

  async read(sha: string): Promise<Buffer> {
    const child = Bun.spawn(['git', 'cat-file', 'commit', sha], { cwd: this.#folder, stdout: 'pipe' })
    return Buffer.from(await new Response(child.stdout).arrayBuffer())
  }

  async commit(sign: Signer, commit: HandmadeCommit): Promise<string> {
    const { email, message = 'By hand\n', header = 'gpgsig', head = '', parents = [], encoding = 'utf8' } = commit
    await this.git('init', '-q', '--bare', `--object-format=${this.#format}`)
    const tree = await this.#service.git(['mktree'], { cwd: this.#folder, input: '' })
    const person = `Somebody <${email}> 1704164645 +0000`
    const ancestry = parents.map((parent) => `parent ${parent}\n`).join('')
    const lines = `tree ${tree}\n${ancestry}author ${person}\ncommitter ${person}\n${head}`
    const signature = (await sign(Buffer.from(`${lines}\n${message}`, encoding))).trimEnd().replaceAll('\n', '\n ')
    const content = `${lines}${header} ${signature}\n\n${message}`
    return this.write('commit', Buffer.from(commit.change?.(content) ?? content, encoding))
  }

  async tag(sign: Signer, tag: { email: string; target: string; name: string; message?: string }): Promise<string> {
    const { email, target, name, message = 'A tag\n' } = tag
    const content = `object ${target}\ntype commit\ntag ${name}\ntagger Somebody <${email}> 1704164645 +0000\n\n${message}`
    return this.write('tag', Buffer.from(content + (await sign(Buffer.from(content)))))
  }

  async push(sha: string, ref: string): Promise<void> {
    await this.git('push', '-q', this.#repository.cloneUrl, `${sha}:${ref}`)
  }
}
