import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { blobString } from '../../src/kernel/ssh-blob.ts'
import { cpuMs } from '../harness/cpu.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'
import { smallOrderPoints } from '../signatures/small-order.ts'

let service: TestService
let alice: TestUser
let bob: TestUser
beforeAll(async () => {
  service = await startTestService()
  alice = await service.createUser('alice')
  bob = await service.createUser('bob')
  mkdirSync(keyFolder(), { recursive: true })
})
afterAll(() => service.stop())

const keyFolder = () => join(service.folder, 'ssh')
let counter = 0

async function run(command: string[]): Promise<string> {
  const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'pipe' })
  const output = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(await new Response(child.stderr).text())
  return output.trim()
}

/** A fresh public key of the real ssh-keygen. */
async function generate(type: string, bits?: number, comment = 'me@host'): Promise<string> {
  counter += 1
  const path = join(keyFolder(), `key${counter}`)
  const size = bits === undefined ? [] : ['-b', String(bits)]
  await run(['ssh-keygen', '-q', '-t', type, ...size, '-N', '', '-C', comment, '-f', path])
  return (await Bun.file(`${path}.pub`).text()).trim()
}

async function fingerprint(key: string): Promise<string> {
  counter += 1
  const path = join(keyFolder(), `line${counter}`)
  await Bun.write(path, `${key}\n`)
  return (await run(['ssh-keygen', '-l', '-f', path])).split(' ')[1] ?? ''
}

/** The same key as one that lives in a security token: no such token is at hand, but ssh-keygen reads the line. */
function asSecurityKey(key: string, kind: string): string {
  const blob = Buffer.from(key.split(' ')[1] ?? '', 'base64')
  const text = (value: string) => Buffer.concat([Buffer.from([0, 0, 0, value.length]), Buffer.from(value)])
  const fields = blob.subarray(4 + blob.readUInt32BE(0))
  return `${kind} ${Buffer.concat([text(kind), fields, text('ssh:')]).toString('base64')} token`
}

test.each([
  ['ed25519', undefined],
  ['rsa', 2048],
  ['rsa', 4096],
  ['ecdsa', 256],
  ['ecdsa', 384],
  ['ecdsa', 521],
] as const)('a real %s key of %p bits is taken, with the fingerprint of ssh-keygen', async (type, bits) => {
  const key = await generate(type, bits)
  const added = await alice.client.post('/user/keys', { title: `${type} ${bits}`, key: `  ${key}\n` })
  expect(added.status).toBe(201)
  expect(added.body).toMatchObject({ key, key_type: 'user', user: { login: 'alice' } })
  expect(added.string('fingerprint')).toBe(await fingerprint(key))
})

test.each([
  ['ed25519', undefined, 'sk-ssh-ed25519@openssh.com'],
  ['ecdsa', 256, 'sk-ecdsa-sha2-nistp256@openssh.com'],
] as const)('a security key made from %s is taken', async (type, bits, kind) => {
  const key = asSecurityKey(await generate(type, bits), kind)
  const added = await alice.client.post('/user/keys', { title: kind, key })
  expect(added.status).toBe(201)
  expect(added.string('fingerprint')).toBe(await fingerprint(key))
})

test('a comment of any words stays, and none is fine', async () => {
  const spoken = await generate('ed25519', undefined, 'my   work laptop')
  expect((await alice.client.post('/user/keys', { title: 'spoken', key: spoken })).string('key')).toBe(spoken)
  const bare = (await generate('ed25519')).split(' ').slice(0, 2).join(' ')
  expect((await alice.client.post('/user/keys', { title: 'bare', key: bare })).string('key')).toBe(bare)
})

const refusals: [string, (key: string, rsa: string) => string | Promise<string>][] = [
  ['options before it', (key) => `command="sh" ${key}`],
  ['two keys', (key, rsa) => `${key}\n${rsa}`],
  ['a line break inside', (key) => key.replace(' ', '\n')],
  ['a weak RSA key', () => generate('rsa', 1024)],
  ['a DSA key', () => 'ssh-dss AAAAB3NzaC1kc3MAAAAB'],
  ['a private key', () => '-----BEGIN OPENSSH PRIVATE KEY-----'],
  ['no base64', () => 'ssh-ed25519 not*base64'],
  ['only words', () => 'not a key'],
  ['another kind than it says', (key) => key.replace('ssh-ed25519', 'ssh-rsa')],
  ['a certificate', (key) => key.replace('ssh-ed25519', 'ssh-ed25519-cert-v01@openssh.com')],
  ['its end cut off', (key) => `ssh-ed25519 ${(key.split(' ')[1] ?? '').slice(0, 40)}`],
  [
    'something after it',
    (key) =>
      `ssh-ed25519 ${Buffer.concat([Buffer.from(key.split(' ')[1] ?? '', 'base64'), Buffer.alloc(3)]).toString('base64')}`,
  ],
  ['a length that lies', () => `ssh-ed25519 ${Buffer.from([255, 255, 255, 255, 1, 2, 3]).toString('base64')}`],
]

test.each(refusals)('a key with %s is refused', async (_, make) => {
  const key = await make(await generate('ed25519'), await generate('rsa', 2048))
  const refused = await bob.client.post('/user/keys', { title: 'bad', key })
  expect(refused.status).toBe(422)
  expect((await bob.client.get('/user/keys')).body).toEqual([])
})

test('a point that is not on its curve is refused', async () => {
  const key = await generate('ecdsa', 256)
  const blob = Buffer.from(key.split(' ')[1] ?? '', 'base64')
  blob[blob.length - 1] = (blob.at(-1) ?? 0) ^ 1
  const refused = await bob.client.post('/user/keys', {
    title: 'bad',
    key: `ecdsa-sha2-nistp256 ${blob.toString('base64')}`,
  })
  expect(refused.status).toBe(422)
})

/** A line with a point that nobody chose. */
const lineOf = (point: Buffer, application = '') => {
  const kind = application === '' ? 'ssh-ed25519' : 'sk-ssh-ed25519@openssh.com'
  const fields = [Buffer.from(kind), point, ...(application === '' ? [] : [Buffer.from(application)])]
  return `${kind} ${Buffer.concat(fields.map((field) => blobString(field))).toString('base64')}`
}

test('a point of small order, for which anybody can sign, is refused', async () => {
  for (const hex of smallOrderPoints)
    for (const application of ['', 'ssh:']) {
      const point = Buffer.from(hex, 'hex')
      const refused = await bob.client.post('/user/keys', { title: 'weak', key: lineOf(point, application) })
      expect([hex, refused.status]).toEqual([hex, 422])
      point[31] = (point[31] ?? 0) ^ 0x80
      expect((await bob.client.post('/user/keys', { title: 'weak', key: lineOf(point, application) })).status).toBe(422)
    }
  expect((await bob.client.get('/user/keys')).body).toEqual([])
})

test('of six who add or delete one key at once, one does', async () => {
  const key = await generate('ed25519')
  const people = await Promise.all(Array.from({ length: 6 }, () => service.createUser()))
  const added = await Promise.all(people.map(({ client }) => client.post('/user/keys', { title: 'raced', key })))
  expect(added.map(({ status }) => status).toSorted()).toEqual([201, 422, 422, 422, 422, 422])
  const titled = await Promise.all(
    Array.from({ length: 6 }, async () =>
      alice.client.post('/user/keys', { title: 'one', key: await generate('ed25519') }),
    ),
  )
  expect(titled.map(({ status }) => status).toSorted()).toEqual([201, 422, 422, 422, 422, 422])
  const id = titled.find(({ status }) => status === 201)?.number('id')
  const deleted = await Promise.all(titled.map(() => alice.client.delete(`/user/keys/${id}`)))
  expect(deleted.map(({ status }) => status).toSorted()).toEqual([204, 404, 404, 404, 404, 404])
  const trail = await service.admin.client.get('/admin/audit', { actor: 'alice', action: 'public_key.delete' })
  expect(trail.text.split(`"id":${id},`).length - 1).toBe(1)
})

test('a huge key is refused quickly', async () => {
  for (const key of [`ssh-rsa ${'A'.repeat(1_000_000)}`, `---- BEGIN SSH2 PUBLIC KEY ----\n${'A'.repeat(1_000_000)}`]) {
    const ms = await cpuMs(async () => {
      expect((await bob.client.post('/user/keys', { title: 'huge', key })).status).toBe(422)
    })
    expect(ms).toBeLessThan(1500)
  }
})

test('the same key, or the same title, is refused', async () => {
  const key = await generate('ed25519')
  expect((await bob.client.post('/user/keys', { title: 'once', key })).status).toBe(201)
  const again = await alice.client.post('/user/keys', { title: 'stolen', key: key.replace('me@host', 'other') })
  expect(again.status).toBe(422)
  expect(again.string('message')).toBe('Key content has been used as non-deploy key')
  const title = await bob.client.post('/user/keys', { title: 'once', key: await generate('ed25519') })
  expect(title.string('message')).toBe('Key title has been used')
})

test('others see keys without their owner, and reach none by its number', async () => {
  const made = await bob.client.post('/user/keys', { title: 'bobs', key: await generate('ed25519') })
  const id = made.number('id')
  const listed = await alice.client.get('/users/bob/keys', { fingerprint: made.string('fingerprint') })
  expect(listed.body).toMatchObject([{ id, title: 'bobs' }])
  expect(listed.text).not.toContain('"user"')
  expect((await service.anonymous.get('/users/bob/keys')).status).toBe(401)
  expect((await alice.client.get(`/user/keys/${id}`)).status).toBe(404)
  expect((await alice.client.delete(`/user/keys/${id}`)).status).toBe(403)
  expect((await bob.client.get(`/user/keys/${id}`)).status).toBe(200)
  await service.admin.client.patch('/admin/users/bob', { login_name: 'bob', visibility: 'private' })
  expect((await alice.client.delete(`/user/keys/${id}`)).status).toBe(404)
  await service.admin.client.patch('/admin/users/bob', { login_name: 'bob', visibility: 'public' })
  expect((await bob.client.delete(`/user/keys/${id}`)).status).toBe(204)
  expect((await bob.client.delete(`/user/keys/${id}`)).status).toBe(404)
})

test('an administrator adds and deletes keys of a user', async () => {
  const key = await generate('ed25519')
  expect((await alice.client.post('/admin/users/bob/keys', { title: 'x', key })).status).toBe(403)
  const made = await service.admin.client.post('/admin/users/bob/keys', { title: 'given', key, read_only: true })
  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({ read_only: true })
  const path = (name: string) => `/admin/users/${name}/keys/${made.number('id')}`
  expect((await service.admin.client.delete(path('alice'))).status).toBe(403)
  expect((await service.admin.client.delete(path('bob'))).status).toBe(204)
  expect((await service.admin.client.delete('/admin/users/bob/keys/999999999')).status).toBe(404)
})

test('lists have pages that link to each other', async () => {
  const carol = await service.createUser('carol')
  for (let number = 0; number < 3; number += 1)
    await carol.client.post('/user/keys', { title: `key ${number}`, key: await generate('ed25519') })
  for (const path of ['/user/keys', '/users/carol/keys']) {
    const second = await carol.client.get(path, { page: 2, limit: 2 })
    expect(second.body).toMatchObject([{ title: 'key 2' }])
    expect(second.headers.get('x-total-count')).toBe('3')
    expect(second.headers.get('link')).toBe(
      `<${service.url}/api/v1${path}?limit=2&page=1>; rel="first",<${service.url}/api/v1${path}?limit=2&page=1>; rel="prev"`,
    )
    expect((await carol.client.get(path)).headers.get('link')).toBeNull()
  }
})
