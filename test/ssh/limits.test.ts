import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomFillSync } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { Client, type ClientChannel } from 'ssh2'
import { storagePath } from '../../src/git/storage.ts'
import { type Hosted, hostRepository, workTree } from '../features/transport/hosted.ts'
import { processesWith } from '../features/transport/replica.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'
import { addKey, makeKey, sshAddress, type TestKey, withKey } from '../harness/ssh.ts'
import { until } from '../harness/until.ts'

let service: TestService
let owner: TestUser
let key: TestKey
let repo: Hosted

beforeAll(async () => {
  const settings = { SSH_ENABLED: 'true', SSH_PORT: '0', REQUEST_TIMEOUT_SECONDS: '1', GIT_MAX_PROCESSES: '2' }
  service = await startTestService({ settings })
  ;({ owner, key, repo } = await furnish(service))
})
afterAll(() => service.stop())

/** An account with a key, and a repository of it with a branch. */
async function furnish(service: TestService) {
  const owner = await service.createUser()
  const key = makeKey(service)
  await addKey(owner, key)
  const repo = await hostRepository(service, owner)
  const cwd = await workTree(service.git)
  const url = `${service.context.sshRoot}${owner.name}/${repo.name}.git`
  await service.git(['push', '-q', url, 'main'], { cwd, env: withKey(key) })
  return { owner, key, repo, cwd, url }
}

async function signIn(at: TestService, { file }: TestKey): Promise<Client> {
  const client = new Client()
  const { promise, resolve, reject } = Promise.withResolvers<Client>()
  client.on('error', reject)
  client.on('ready', () => resolve(client))
  client.connect({ ...sshAddress(at), username: 'git', privateKey: readFileSync(file) })
  return promise
}

const start = (client: Client, command: string) =>
  new Promise<ClientChannel>((resolve, reject) =>
    client.exec(command, (error, channel) => (error ? reject(error) : resolve(channel))),
  )

/** How long a connection lasts that says nothing, or only the beginning; in seconds. */
function lifeOf(says: string): Promise<number> {
  const started = performance.now()
  const socket = connect(sshAddress(service))
  socket.write(says)
  socket.resume()
  return new Promise((resolve) => {
    socket.on('error', () => undefined)
    socket.on('close', () => resolve((performance.now() - started) / 1000))
  })
}

const runs = (program: string, id = repo.id) =>
  processesWith(`${program} ${join(service.context.config.repositoriesDir, storagePath(id))}`).length > 0

test('whoever shows no key in time is hung up on, and so is who asks for nothing', async () => {
  const [silent, slow, client] = await Promise.all([lifeOf(''), lifeOf('SSH-2.0-slow\r\n'), signIn(service, key)])
  for (const seconds of [silent, slow]) {
    expect(seconds).toBeGreaterThan(0.9)
    expect(seconds).toBeLessThan(8)
  }
  await new Promise<void>((resolve) => client.once('close', () => resolve()))
})

describe('with time to stay', () => {
  let patient: TestService
  let patientKey: TestKey
  beforeAll(async () => {
    const settings = { SSH_ENABLED: 'true', SSH_PORT: '0', SSH_MAX_CONNECTIONS: '60' }
    patient = await startTestService({ settings })
    ;({ key: patientKey } = await furnish(patient))
  })
  afterAll(() => patient.stop())

  /** A connection that says nothing, and whether it was greeted or hung up on. */
  async function knock(): Promise<{ isGreeted: boolean; socket: Socket }> {
    const socket = connect(sshAddress(patient))
    socket.on('error', () => undefined)
    const isGreeted = await new Promise<boolean>((resolve) => {
      socket.once('data', () => resolve(true))
      socket.once('close', () => resolve(false))
    })
    return { isGreeted, socket }
  }
  const knockAll = (times: number) => Promise.all(Array.from({ length: times }, knock))

  test('one address has so many connections without a key, and those with one do not count', async () => {
    const strangers = await knockAll(50)
    expect(strangers.map(({ isGreeted }) => isGreeted)).toEqual(strangers.map(() => true))
    expect((await knock()).isGreeted).toBe(false)
    const closed = strangers.map(({ socket }) => new Promise((resolve) => socket.once('close', resolve)))
    for (const { socket } of strangers) socket.destroy()
    await Promise.all(closed)
    // The server hears of it a moment later.
    await until(async () => {
      const { isGreeted, socket } = await knock()
      socket.destroy()
      return isGreeted
    }, 'there is room again')
    const client = await signIn(patient, patientKey)
    client.destroy()
  })

  test('all together are bounded too', async () => {
    const clients: Client[] = []
    // Half at a time: before it showed its key, each is a stranger.
    for (let half = 0; half < 2; half += 1)
      clients.push(...(await Promise.all(Array.from({ length: 30 }, () => signIn(patient, patientKey)))))
    expect((await knock()).isGreeted).toBe(false)
    for (const client of clients) client.destroy()
  })
})

test('a client that goes away ends its child, and the place of a transfer is free again', async () => {
  const client = await signIn(service, key)
  await start(client, `git-upload-pack '${owner.name}/${repo.name}'`)
  await until(() => runs('upload-pack --strict'), 'the fetch runs')
  client.destroy()
  await until(() => !runs('upload-pack --strict'), 'the fetch is ended')
  await service.git(['ls-remote', repo.as(owner)])
})

test('a client that closes the channel alone ends its child', async () => {
  const client = await signIn(service, key)
  const channel = await start(client, `git-upload-pack '${owner.name}/${repo.name}'`)
  await until(() => runs('upload-pack --strict'), 'the fetch runs')
  channel.close()
  await until(() => !runs('upload-pack --strict'), 'the fetch is ended')
  client.end()
})

/** A repository that fills the window of a client, and every buffer on the way. */
async function hostNoise() {
  const noisy = await hostRepository(service, owner)
  const cwd = await workTree(service.git)
  writeFileSync(join(cwd, 'noise.bin'), randomFillSync(Buffer.alloc(12_000_000)))
  await service.git(['add', '-A'], { cwd })
  await service.git(['commit', '-q', '-m', 'noise'], { cwd })
  await service.git(['push', '-q', noisy.as(owner), 'main'], { cwd })
  return { noisy, tip: await service.git(['rev-parse', 'main'], { cwd }) }
}

const line = (text: string) => `${(text.length + 5).toString(16).padStart(4, '0')}${text}\n`

test.each([
  ['takes nothing more of its pack', (tip: string) => `${line(`want ${tip}`)}0000${line('done')}`, 0],
  ['asks a little at a time, and never ends', () => '', 300],
])('a client that %s is cut off, and the place of a transfer is free again', async (_, says, everyMs) => {
  const { noisy, tip } = await hostNoise()
  const client = await signIn(service, key)
  const channel = await start(client, `git-upload-pack '${owner.name}/${noisy.name}'`)
  channel.on('error', () => undefined)
  const closed = new Promise<void>((resolve) => channel.once('close', () => resolve()))
  channel.pause()
  await until(() => runs('upload-pack --strict', noisy.id), 'the fetch runs')
  channel.write(says(tip))
  const wants = line(`want ${tip}`)
  let at = 0
  const drip = everyMs > 0 && setInterval(() => channel.write(wants.charAt(at++ % wants.length)), everyMs)
  await until(() => !runs('upload-pack --strict', noisy.id), 'the fetch is ended')
  if (drip) clearInterval(drip)
  channel.resume()
  await closed
  client.end()
  await service.git(['ls-remote', noisy.as(owner)])
})

test('more than the window allows is not kept: the connection is cut', async () => {
  const zero = '0'.repeat(40)
  const order = `${zero} ${'1'.repeat(40)} refs/heads/flood\0report-status`
  const head = `${(order.length + 4).toString(16).padStart(4, '0')}${order}0000PACK`
  const command = `git-receive-pack '${owner.name}/${repo.name}'`
  const [first, second] = [await signIn(service, key), await signIn(service, key)]
  const holds = await start(first, command)
  holds.write(head)
  // The only place for a transfer is taken, so what the second sends is not read.
  await until(() => runs('receive-pack --stateless-rpc'), 'the first push runs')
  const floods = await start(second, command)
  const cut = new Promise<void>((resolve) => second.once('close', () => resolve()))
  second.on('error', () => undefined)
  const outgoing: unknown = Reflect.get(floods, 'outgoing')
  if (typeof outgoing !== 'object' || outgoing === null) throw new Error('the library is another')
  Reflect.set(outgoing, 'window', 2 ** 31)
  floods.write(head)
  // An odd number: where the window comes to exactly nothing, the library drops what follows.
  const chunk = Buffer.alloc(1_000_003)
  for (let index = 0; index < 16; index++) floods.write(chunk)
  await cut
  first.destroy()
})

test('a stop hangs up on the idle, lets a push end that ends in time, and cuts what does not', async () => {
  const settings = { SSH_ENABLED: 'true', SSH_PORT: '0', SHUTDOWN_TIMEOUT_SECONDS: '3' }
  const other = await startTestService({ settings })
  const { owner, key, repo, cwd, url } = await furnish(other)
  const idle = await signIn(other, key)
  const hungUp = new Promise<void>((resolve) => idle.once('close', () => resolve()))
  const stalled = await signIn(other, key)
  await start(stalled, `git-upload-pack '${owner.name}/${repo.name}'`)
  const folder = join(other.context.config.repositoriesDir, storagePath(repo.id))
  await until(() => processesWith(`upload-pack --strict ${folder}`).length > 0, 'the fetch runs')
  await Bun.write(
    join(cwd, '.git/hooks/pre-push'),
    '#!/bin/sh\ntouch greeted\nwhile ! [ -e go ]; do sleep 0.05; done\n',
  )
  await other.git(['-c', 'core.hooksPath=/dev/null', 'commit', '-q', '--allow-empty', '-m', 'late'], { cwd })
  await Bun.$`chmod +x ${join(cwd, '.git/hooks/pre-push')}`.quiet()
  const push = other.git.run(['push', url, 'main:late'], { cwd, env: withKey(key) })
  await until(() => Bun.file(join(cwd, 'greeted')).exists(), 'the push is greeted')
  const rows = repo.rowLines()
  const started = performance.now()
  const stopped = other.stop()
  await hungUp
  await Bun.write(join(cwd, 'go'), '')
  expect(await push).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('main -> late') })
  expect(await rows).toHaveLength(1)
  await stopped
  expect((performance.now() - started) / 1000).toBeGreaterThan(2.9)
  expect((performance.now() - started) / 1000).toBeLessThan(9)
  expect(processesWith(`upload-pack --strict ${folder}`)).toEqual([])
})
