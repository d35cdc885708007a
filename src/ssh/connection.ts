import type { Socket } from 'node:net'
import { type Algorithms, type AuthContext, Server, type ServerChannel, type Connection as SshClient } from 'ssh2'
import type { Context } from '../context.ts'
import { findKeyHolder, type KeyHolder, recordUse } from '../features/public-keys/sign-in.ts'
import { forbidden } from '../kernel/errors.ts'
import { fingerprintOf } from '../signatures/ssh/public-key.ts'
import { type CommandChannel, openCommandChannel } from './command-channel.ts'
import type { HostKey } from './host-key.ts'
import type { LimitedCount } from './limited-count.ts'
import { isProven } from './proof.ts'
import { countedAs } from './serve.ts'
import { type Opened, openSession } from './session.ts'

/**
 * What every client of the last ten years has, and costs little: no groups of large numbers (a handshake by a stranger took 0.3 s of
 * the processor), no SHA-1, no compression. Without its native part the library is slow with ChaCha20.
 */
const algorithms: Algorithms = {
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
  ],
  serverHostKey: ['ssh-ed25519'],
  cipher: ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes128-ctr', 'aes192-ctr', 'aes256-ctr'],
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256', 'hmac-sha2-512'],
  compress: ['none'],
}

/** Each key that a client offers is one, and so is each proof. */
const MAX_ATTEMPTS = 30
/** Commands side by side on one connection, as ControlMaster has them. */
const MAX_SESSIONS = 10
/** The window, and as much again: whoever sends more without being asked to does not keep to the protocol. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024
/** Answers that lie in the socket; commands wait long before. The library answers all it is asked, also who reads nothing of it. */
const MAX_UNSENT_BYTES = 4 * 1024 * 1024
const HANG_UP_MS = 2000

export interface ConnectionRules {
  context: Context
  hostKey: HostKey
  /** Connections and commands of one account. */
  connections: LimitedCount
  commands: LimitedCount
  /** Called once the client has shown a key. */
  signedIn(): void
}

/** One client: its key, its commands, and the times that it is given. */
export class SshConnection {
  readonly #socket: Socket
  readonly #rules: ConnectionRules
  readonly #address: string | undefined
  readonly #running = new Map<AbortController, ServerChannel>()
  readonly #works = new Set<Promise<void>>()
  readonly #closed: Promise<void>
  #client: SshClient | undefined
  #fingerprint = ''
  #attempts = 0
  #sessions = 0
  #isRetiring = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #leave: (() => void) | undefined

  constructor(socket: Socket, rules: ConnectionRules) {
    this.#socket = socket
    this.#rules = rules
    this.#address = socket.remoteAddress
    this.#wait(() => this.cut())
    this.#closed = new Promise((resolve) => socket.once('close', () => resolve()))
    socket.once('close', () => this.#close())
    const { secret } = rules.hostKey
    new Server({ hostKeys: [secret], algorithms, ident: 'Hearth' }, (client) => this.#greet(client)).injectSocket(
      socket,
    )
  }

  /** Resolves when the connection is closed and nothing of it runs any more. */
  async ended(): Promise<void> {
    await this.#closed
    await Promise.all(this.#works)
  }

  /** Hangs up as soon as no command runs. */
  retire(): void {
    this.#isRetiring = true
    if (this.#running.size === 0) this.#hangUp()
  }

  cut(): void {
    this.#socket.destroy()
  }

  #close(): void {
    clearTimeout(this.#timer)
    for (const running of this.#running.keys()) running.abort()
    this.#leave?.()
  }

  /** One time limit at a time: for signing in, and for asking for something. */
  #wait(over: () => void, ms = this.#rules.context.config.requestTimeoutSeconds * 1000): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(over, ms)
  }

  #hangUp(): void {
    this.#client?.end()
    this.#wait(() => this.cut(), this.#client ? HANG_UP_MS : 0)
  }

  #greet(client: SshClient): void {
    this.#client = client
    const { log } = this.#rules.context
    client.on('error', (err) => log.debug({ err, address: this.#address }, 'a fault of an SSH connection'))
    client.on('authentication', (request) => {
      this.#answer(request).catch((err: unknown) => {
        log.error({ err }, 'a sign-in by SSH failed')
        this.cut()
      })
    })
    client.on('session', (accept, reject) => {
      if (this.#sessions >= MAX_SESSIONS || this.#isRetiring) return reject()
      this.#sessions += 1
      const session = accept()
      session.once('close', () => {
        this.#sessions -= 1
      })
      openSession(session, (opened) => this.#run(opened))
    })
    this.#socket.on('data', () => this.#limitMemory())
    if (this.#isRetiring) this.#hangUp()
  }

  /** A client signs in by a key only. The protocol accepts a known key before it is proven; nothing follows from that. */
  async #answer(request: AuthContext): Promise<void> {
    this.#attempts += 1
    if (this.#attempts > MAX_ATTEMPTS) return this.#hangUp()
    if (request.method !== 'publickey') return request.reject(['publickey'])
    const { context } = this.#rules
    const { key, signature, blob, hashAlgo: hash } = request
    const fingerprint = fingerprintOf(key.data)
    const holder = await findKeyHolder(context, fingerprint)
    if (!holder) return request.reject(['publickey'])
    if (signature === undefined) return request.accept()
    if (!blob || !isProven({ kind: key.algo, key: key.data, signed: blob, signature, hash }))
      return request.reject(['publickey'])
    await recordUse(context, holder.key)
    this.#fingerprint = fingerprint
    request.accept()
    this.#enter(holder)
  }

  #enter(holder: KeyHolder): void {
    if (this.#socket.destroyed) return
    this.#rules.signedIn()
    this.#wait(() => this.#hangUp())
    this.#leave = this.#rules.connections.take(countedAs(holder))
    if (this.#leave) return
    const user = holder.owner?.name
    this.#rules.context.log.info({ user, address: this.#address }, 'too many SSH connections of one account')
    this.#hangUp()
  }

  /** Reads key and account again: a connection may stay open for long. */
  async #holder(): Promise<KeyHolder> {
    const { context } = this.#rules
    const holder = await findKeyHolder(context, this.#fingerprint)
    if (!holder) throw forbidden('this key is not known any more')
    await recordUse(context, holder.key)
    return holder
  }

  #run({ session, channel, serve }: Opened): void {
    const gone = new AbortController()
    this.#running.set(gone, channel)
    clearTimeout(this.#timer)
    session.once('close', () => gone.abort())
    const { context, commands } = this.#rules
    const rules = { gone: gone.signal, seconds: context.config.requestTimeoutSeconds }
    const commandChannel: CommandChannel = openCommandChannel(channel, this.#socket, rules)
    const call = { channel: commandChannel, address: this.#address, holder: () => this.#holder(), commands }
    const work = serve(context, call).finally(() => {
      this.#works.delete(work)
      this.#running.delete(gone)
      if (this.#running.size > 0 || this.#socket.destroyed) return
      // A client that sees the end before it has read the rest reports a failure. Most clients hang up themselves.
      this.#wait(() => this.#hangUp(), this.#isRetiring ? HANG_UP_MS : undefined)
    })
    this.#works.add(work)
  }

  #limitMemory(): void {
    if (this.#socket.writableLength > MAX_UNSENT_BYTES) this.cut()
    for (const channel of this.#running.values()) if (channel.readableLength > MAX_UNREAD_BYTES) this.cut()
  }
}
