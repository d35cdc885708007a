import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash, generateKeyPairSync, sign as signBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { eq } from 'drizzle-orm'
import { BaseAgent, Client, type ParsedKey, type SignCallback, utils } from 'ssh2'
import { collaborations, repositories } from '../../db/schema/repositories.ts'
import { users } from '../../db/schema/users.ts'
import { blobString } from '../../src/kernel/ssh-blob.ts'
import { type Hosted, hostRepository, workTree } from '../features/transport/hosted.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'
import { addKey, makeKey, ssh, sshAddress, type TestKey, withKey } from '../harness/ssh.ts'

let service: TestService
let owner: TestUser
let guest: TestUser
let ownerKey: TestKey
let guestKey: TestKey
let cwd: string
let now = new Date('2026-03-01T10:00:00Z')
const at = (repo: Hosted | string) =>
  `${service.context.sshRoot}${owner.name}/${typeof repo === 'string' ? repo : repo.name}.git`
const run = (key: TestKey, args: string[]) => service.git.run(args, { cwd, env: withKey(key) })
const userId = async ({ name }: TestUser) => {
  const [row] = await service.context.db.select().from(users).where(eq(users.lowerName, name))
  return row?.id ?? 0
}

beforeAll(async () => {
  const settings = { SSH_ENABLED: 'true', SSH_PORT: '0' }
  service = await startTestService({ settings, clock: { now: () => now } })
  owner = await service.createUser()
  guest = await service.createUser()
  ownerKey = makeKey(service)
  guestKey = makeKey(service)
  await addKey(owner, ownerKey)
  await addKey(guest, guestKey)
  cwd = await workTree(service.git)
})
afterAll(() => service.stop())

describe('who may not', () => {
  test('an unknown key opens nothing, not even what is public', async () => {
    const repo = await hostRepository(service, owner)
    const { exitCode, stderr } = await run(makeKey(service), ['ls-remote', at(repo)])
    expect(exitCode).toBe(128)
    expect(stderr).toContain('Permission denied')
  })

  test('a hidden repository and one that does not exist answer alike', async () => {
    const hidden = await hostRepository(service, owner, { isPrivate: true })
    for (const verb of ['ls-remote', 'push'] as const) {
      const words = verb === 'push' ? ['main'] : []
      const [one, other] = await Promise.all(
        [hidden, 'nothing'].map((repo) => run(guestKey, [verb, at(repo), ...words])),
      )
      expect(one).toMatchObject({ exitCode: 128, stderr: expect.stringContaining('Hearth: repository not found') })
      expect(other).toEqual(one ?? { exitCode: 0, stdout: '', stderr: '' })
    }
  })

  test('a reader reads and does not push; a writer does', async () => {
    const repo = await hostRepository(service, owner, { isPrivate: true })
    const row = { repositoryId: repo.id, userId: await userId(guest) }
    await service.context.db.insert(collaborations).values({ ...row, permission: 'read' })
    expect(await run(guestKey, ['ls-remote', at(repo)])).toMatchObject({ exitCode: 0 })
    const refused = await run(guestKey, ['push', at(repo), 'main'])
    expect(refused.stderr).toContain(`Hearth: you may not push to ${owner.name}/${repo.name}`)
    expect(await repo.diskLines()).toEqual([])
    await service.context.db
      .update(collaborations)
      .set({ permission: 'write' })
      .where(eq(collaborations.repositoryId, repo.id))
    expect(await run(guestKey, ['push', at(repo), 'main'])).toMatchObject({ exitCode: 0 })
    expect(await repo.rowLines()).toHaveLength(1)
  })

  test('an archived repository and a mirror take no push', async () => {
    const repo = await hostRepository(service, owner)
    for (const change of [{ isArchived: true }, { isArchived: false, isMirror: true }]) {
      await service.context.db.update(repositories).set(change).where(eq(repositories.id, repo.id))
      expect((await run(ownerKey, ['push', at(repo), 'main'])).stderr).toContain('takes no pushes')
      expect(await run(ownerKey, ['ls-remote', at(repo)])).toMatchObject({ exitCode: 0 })
    }
  })

  test.each([
    [{ prohibitLogin: true }, 'prohibited from signing in'],
    [{ isActive: false }, 'prohibited from signing in'],
    [{ mustChangePassword: true }, 'You must change your password'],
  ])('an account with %j is told so', async (state, words) => {
    const user = await service.createUser()
    const key = makeKey(service)
    await addKey(user, key)
    const repo = await hostRepository(service, owner)
    expect(await run(key, ['ls-remote', at(repo)])).toMatchObject({ exitCode: 0 })
    await service.context.db
      .update(users)
      .set(state)
      .where(eq(users.id, await userId(user)))
    expect(await run(key, ['ls-remote', at(repo)])).toMatchObject({
      exitCode: 128,
      stderr: expect.stringContaining(words),
    })
    expect(await ssh(service, key)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(words) })
  })

  test('a key of one with the signature of another', async () => {
    const [known, own] = [ownerKey, guestKey].map(({ file }) => utils.parseKey(readFileSync(file)))
    if (!known || known instanceof Error || !own || own instanceof Error) throw new Error('no key')
    const signedIn = await signIn(new Forger(known, own))
    expect(signedIn).toBe('refused')
    expect(await signIn(new Forger(own, own))).toBe('in')
  })
})

test('a key in a security token opens, when somebody touched it', async () => {
  const kind = 'sk-ssh-ed25519@openssh.com'
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const point = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')
  const blob = Buffer.concat([kind, point, 'ssh:'].map((part) => blobString(part)))
  const line = `${kind} ${blob.toString('base64')}`
  expect((await guest.client.post('/user/keys', { title: 'token', key: line })).status).toBe(201)
  const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest()
  const token = (flags: number) => {
    const state = Buffer.from([flags, 0, 0, 0, 7])
    const sign = (data: Buffer) => {
      const signed = Buffer.concat([sha256('ssh:'), state, sha256(data)])
      return Buffer.concat([signBytes(null, signed, privateKey), state])
    }
    const plain = utils.parseKey(readFileSync(guestKey.file))
    if (plain instanceof Error) throw plain
    // The library's client knows no such keys; it sends what it is given.
    return new Forger(Object.assign(Object.create(plain), { type: kind, getPublicSSH: () => blob }), { sign })
  }
  expect(await signIn(token(1))).toBe('in')
  expect(await signIn(token(0))).toBe('refused')
})

/** Offers one key and signs with another. */
class Forger extends BaseAgent<ParsedKey> {
  readonly #shown: ParsedKey
  readonly #used: Pick<ParsedKey, 'sign'>
  constructor(shown: ParsedKey, used: Pick<ParsedKey, 'sign'>) {
    super()
    this.#shown = shown
    this.#used = used
  }
  getIdentities(callback: (error: undefined, keys: ParsedKey[]) => void): void {
    callback(undefined, [this.#shown])
  }
  sign(_: unknown, data: Buffer, options: unknown, callback?: SignCallback): void {
    const done = typeof options === 'function' ? options : callback
    Reflect.apply(done ?? (() => undefined), undefined, [undefined, this.#used.sign(data)])
  }
}

function signIn(agent: BaseAgent<ParsedKey>): Promise<string> {
  const client = new Client()
  return new Promise((resolve) => {
    client.on('error', () => resolve('refused'))
    client.on('ready', () => {
      client.end()
      resolve('in')
    })
    client.connect({ ...sshAddress(service), username: 'git', agent })
  })
}

describe('what is not served', () => {
  test('a shell: it greets by name and ends', async () => {
    const { exitCode, stderr, stdout } = await ssh(service, ownerKey, { options: ['-T'] })
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' })
    expect(stderr).toStartWith(`Hi there, ${owner.name}! You've successfully authenticated with the key named key `)
    expect(stderr).toContain('does not provide shell access')
  })

  test.each([
    'ls',
    'git-upload-archive',
    "git-upload-pack '/a/b'; id",
    "git-upload-pack '/a/../../etc/passwd'",
    "git-upload-pack '--upload-pack=id' '/a/b'",
    'git-lfs-transfer a/b download',
    'scp -f /etc/passwd',
  ])('the command %s', async (command) => {
    const answer = await ssh(service, ownerKey, { command })
    expect(answer).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: 'Hearth: only git clone, fetch, push and archive are served here\n',
    })
  })

  test('the forms in which clients write a path', async () => {
    const repo = await hostRepository(service, owner)
    await run(ownerKey, ['push', at(repo), 'main'])
    for (const path of [
      `'/${owner.name}/${repo.name}.git'`,
      `'${owner.name}/${repo.name}'`,
      `${owner.name}/${repo.name}.git`,
    ]) {
      const answer = await ssh(service, ownerKey, { command: `git-upload-pack ${path}` })
      expect(answer.stdout).toContain('multi_ack')
    }
    for (const path of ["'..'", "'../..'", "'./.'", "''"])
      expect(await ssh(service, ownerKey, { command: `git-upload-pack ${path}` })).toMatchObject({
        exitCode: 1,
        stdout: '',
      })
  })

  test('a password, a subsystem, forwarding, a terminal', async () => {
    expect(await attempt((_, done) => done(undefined), { password: owner.password })).toContain('authentication')
    const privateKey = readFileSync(ownerKey.file)
    expect(await attempt((client, done) => client.sftp(done), { privateKey })).toContain('subsystem')
    expect(await attempt((client, done) => client.forwardIn('127.0.0.1', 0, done), { privateKey })).toContain(
      'Unable to bind',
    )
    const forward = (client: Client, done: Done) => client.forwardOut('127.0.0.1', 1, '127.0.0.1', 22, done)
    expect(await attempt(forward, { privateKey })).toContain('open failure')
    const terminal = (client: Client, done: Done) => client.exec("git-upload-pack 'a/b'", { pty: true }, done)
    expect(await attempt(terminal, { privateKey })).toContain('pseudo-terminal')
    const windows = (client: Client, done: Done) => client.exec("git-upload-pack 'a/b'", { x11: true }, done)
    expect(await attempt(windows, { privateKey })).toContain('X11')
  })
})

type Done = (error: Error | undefined) => void

/** How the client fares with it. */
function attempt(
  work: (client: Client, done: Done) => unknown,
  credential: { password?: string; privateKey?: Buffer },
) {
  const client = new Client()
  return new Promise<string>((resolve) => {
    const end = (error: Error | undefined) => {
      client.end()
      resolve(error?.message ?? 'done')
    }
    client.on('error', end)
    client.on('ready', () => {
      try {
        work(client, end)
      } catch (error) {
        end(error instanceof Error ? error : new Error(String(error)))
      }
    })
    client.connect({ ...sshAddress(service), username: 'git', ...credential })
  })
}

test('who asks and asks and never reads an answer is cut off', async () => {
  const client = new Client()
  const ready = new Promise<void>((resolve) => client.once('ready', () => resolve()))
  client.connect({ ...sshAddress(service), username: 'git', privateKey: readFileSync(ownerKey.file) })
  await ready
  const inside = (target: unknown, name: string): unknown => {
    if (typeof target !== 'object' || target === null) throw new Error('the library is another')
    return Reflect.get(target, name)
  }
  const [protocol, socket] = [inside(client, '_protocol'), inside(client, '_sock')]
  const ping = inside(protocol, 'ping')
  if (!(socket instanceof Socket) || typeof ping !== 'function') throw new Error('the library is another')
  client.on('error', () => undefined)
  let isCut = false
  socket.once('close', () => {
    isCut = true
  })
  socket.pause()
  for (let asked = 0; !isCut && asked < 400_000; asked++) {
    Reflect.apply(ping, protocol, [])
    if (asked % 1000 === 999) await new Promise((resolve) => setImmediate(resolve))
  }
  expect(isCut).toBe(true)
})

describe('a key', () => {
  test('that is deleted opens nothing any more, on a connection that is open as well', async () => {
    const key = makeKey(service)
    const id = await addKey(owner, key)
    const repo = await hostRepository(service, owner)
    await run(key, ['push', at(repo), 'main'])
    const client = new Client()
    const ready = new Promise<void>((resolve) => client.once('ready', () => resolve()))
    client.connect({ ...sshAddress(service), username: 'any', privateKey: readFileSync(key.file) })
    await ready
    const ask = () =>
      new Promise<string>((resolve) =>
        client.exec(`git-upload-pack '/${owner.name}/${repo.name}.git'`, (_, channel) => {
          let said = ''
          const hear = (bytes: Buffer) => {
            said += bytes.toString()
          }
          channel.on('data', hear)
          channel.stderr.on('data', hear)
          channel.on('close', () => resolve(said))
          channel.end('0000')
        }),
      )
    expect(await ask()).toContain('multi_ack')
    expect((await owner.client.delete(`/user/keys/${id}`)).status).toBe(204)
    expect(await ask()).toContain('this key is not known any more')
    client.end()
    expect((await run(key, ['ls-remote', at(repo)])).stderr).toContain('Permission denied')
  })

  test('says when it was used, to the minute', async () => {
    const key = makeKey(service)
    const id = await addKey(owner, key)
    const used = async () => (await owner.client.get(`/user/keys/${id}`)).string('last_used_at')
    const repo = await hostRepository(service, owner)
    const times: unknown[] = []
    for (const time of ['11:00:00', '11:00:58', '11:01:00']) {
      now = new Date(`2026-03-01T${time}Z`)
      await run(key, ['ls-remote', at(repo)])
      times.push(await used())
    }
    expect(times).toEqual(['2026-03-01T11:00:00Z', '2026-03-01T11:00:00Z', '2026-03-01T11:01:00Z'])
  })
})
