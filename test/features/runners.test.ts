import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { PingRequestSchema, PingResponseSchema } from '../../src/features/runner-protocol/messages/ping_pb.js'
import { RegisterRequestSchema, RegisterResponseSchema } from '../../src/features/runner-protocol/messages/runner_pb.js'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let owner: TestUser
let stranger: TestUser
beforeAll(async () => {
  service = await startTestService({ settings: { MAX_OWNED: '6', MAX_BODY_BYTES: '100000' } })
  owner = await service.createUser('keeper')
  stranger = await service.createUser()
  await service.createRepository(owner, { name: 'work' })
  await owner.client.post('/orgs', { username: 'firm' })
})
afterAll(() => service.stop())

const services = '/api/actions/runner.v1.RunnerService'

async function call(method: string, message: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${service.url}${services}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(message),
  })
  const text = await response.text()
  return { status: response.status, text, body: text.startsWith('{') ? JSON.parse(text) : undefined }
}

const tokenOf = async (at: string, user = owner): Promise<string> => {
  const answer = await user.client.post(`${at}/registration-token`)
  expect(answer.status).toBe(200)
  return answer.string('token')
}

async function register(token: string, option: Record<string, unknown> = {}) {
  const name = `machine ${crypto.randomUUID()}`
  const answer = await call('Register', { name, token, version: 'v0.2.13', labels: ['linux:host'], ...option })
  expect(answer.status).toBe(200)
  const { id, uuid, token: secret } = answer.body.runner
  return { id: Number(id), name, headers: { 'x-runner-uuid': uuid, 'x-runner-token': secret } }
}

const scopes = ['/repos/keeper/work/actions/runners', '/orgs/firm/actions/runners', '/user/actions/runners']

describe.each(scopes)('%s', (at) => {
  test('a machine registers and is listed, read, switched off and deleted', async () => {
    const token = await tokenOf(at)
    expect(await tokenOf(at)).toBe(token)
    const runner = await register(token, { ephemeral: true })
    const shown = {
      ...{ id: runner.id, name: runner.name, status: 'offline', busy: false, disabled: false, ephemeral: true },
      labels: [{ id: 0, name: 'linux:host', type: 'custom' }],
    }
    expect((await owner.client.get(at)).body).toEqual({ runners: [shown], total_count: 1 })
    expect((await owner.client.get(`${at}/${runner.id}`)).body).toEqual(shown)
    expect((await owner.client.patch(`${at}/${runner.id}`, { disabled: true })).body).toEqual({
      ...shown,
      disabled: true,
    })
    expect((await owner.client.get(at, { disabled: false })).body).toEqual({ runners: [], total_count: 0 })
    expect((await owner.client.delete(`${at}/${runner.id}`)).status).toBe(204)
    expect((await owner.client.delete(`${at}/${runner.id}`)).status).toBe(404)
    expect((await owner.client.get(`${at}/${runner.id}`)).status).toBe(404)
    expect((await call('Declare', { version: 'x' }, runner.headers)).status).toBe(401)
  })

  test('nobody else reads, changes or has its token', async () => {
    const runner = await register(await tokenOf(at))
    expect((await service.anonymous.get(at)).status).toBe(401)
    if (at.startsWith('/user')) expect((await stranger.client.get(`${at}/${runner.id}`)).status).toBe(404)
    else
      for (const refused of [
        await stranger.client.get(at),
        await stranger.client.get(`${at}/${runner.id}`),
        await stranger.client.post(`${at}/registration-token`),
        await stranger.client.patch(`${at}/${runner.id}`, { disabled: true }),
        await stranger.client.delete(`${at}/${runner.id}`),
      ])
        expect(refused.status).toBe(403)
    // A runner of one scope is none of another, also for one who owns both.
    for (const other of scopes.filter((scope) => scope !== at))
      expect((await owner.client.get(`${other}/${runner.id}`)).status).toBe(404)
    expect((await service.admin.client.get(`/admin/actions/runners/${runner.id}`)).string('name')).toBe(runner.name)
    await owner.client.delete(`${at}/${runner.id}`)
  })

  test('bad bodies and ids are refused', async () => {
    const runner = await register(await tokenOf(at))
    for (const body of [{}, { disabled: null }, { disabled: 'yes' }])
      expect((await owner.client.patch(`${at}/${runner.id}`, body)).status).toBe(422)
    for (const id of ['abc', '0', '-1', '999999999999999999999'])
      expect([id, (await owner.client.get(`${at}/${id}`)).status]).toEqual([id, 404])
    await owner.client.delete(`${at}/${runner.id}`)
  })

  test('of many at one instant no more than MAX_OWNED register', async () => {
    const token = await tokenOf(at)
    const many = await Promise.all(
      Array.from({ length: 10 }, (_, number) => call('Register', { name: `runner ${number}`, token })),
    )
    expect(many.filter(({ status }) => status === 200)).toHaveLength(6)
    expect(many.filter(({ body }) => body.code === 'invalid_argument')).toHaveLength(4)
    for (const { body } of many.filter(({ status }) => status === 200))
      await owner.client.delete(`${at}/${body.runner.id}`)
  })
})

test('runners of the site are those that an administrator registers', async () => {
  const admin = service.admin
  expect((await owner.client.get('/admin/actions/runners')).status).toBe(403)
  expect((await service.anonymous.post('/admin/actions/runners/registration-token')).status).toBe(401)
  const runner = await register(await tokenOf('/admin/actions/runners', admin))
  const at = `/admin/actions/runners/${runner.id}`
  expect((await admin.client.get('/admin/actions/runners')).text).toContain(runner.name)
  expect((await owner.client.get('/user/actions/runners')).text).not.toContain(runner.name)
  expect((await admin.client.patch(at, { disabled: true })).status).toBe(200)
  expect((await admin.client.delete(at)).status).toBe(204)
})

test('a runner says at each start what it is', async () => {
  const at = scopes[0] ?? ''
  const runner = await register(await tokenOf(at))
  const declared = await call('Declare', { version: 'v1', labels: ['linux', 'linux', ' ', 'arm '] }, runner.headers)
  expect(declared.body.runner).toMatchObject({ name: runner.name, version: 'v1', labels: ['linux', 'arm'] })
  expect(declared.body.runner.token).toBeUndefined()
  const labels = (await owner.client.get(`${at}/${runner.id}`)).body
  expect(labels).toMatchObject({ labels: [{ name: 'linux' }, { name: 'arm' }] })
})

test('a wrong token, a foreign uuid and none are refused alike', async () => {
  const at = scopes[1] ?? ''
  const runner = await register(await tokenOf(at))
  const other = await register(await tokenOf(at))
  const said = await Promise.all(
    [
      {},
      { 'x-runner-uuid': 'x', 'x-runner-token': 'y' },
      { ...runner.headers, 'x-runner-token': '0'.repeat(40) },
      { ...runner.headers, 'x-runner-token': other.headers['x-runner-token'] ?? '' },
      { ...runner.headers, 'x-runner-uuid': crypto.randomUUID() },
    ].map((headers) => call('Declare', { version: 'x' }, headers)),
  )
  expect(said.map(({ status, text }) => `${status} ${text}`)).toEqual(
    said.map(() => '401 {"code":"unauthenticated","message":"unregistered runner"}'),
  )
  const wrong = await call('Register', { name: 'x', token: 'wrong' })
  expect([wrong.status, wrong.body.code]).toEqual([401, 'unauthenticated'])
})

test('what cannot be registered is refused, and nothing is written', async () => {
  const at = scopes[1] ?? ''
  const token = await tokenOf(at)
  const before = (await owner.client.get(at)).body
  const bad = [
    { name: '', token },
    { name: 'x', token: '' },
    { name: 'x'.repeat(256), token },
    { name: 'a\0b', token },
    { name: 'x', token, labels: ['x'.repeat(256)] },
    { name: 'x', token, labels: Array.from({ length: 101 }, (_, number) => `label ${number}`) },
    { name: 'x', token, version: 'x'.repeat(256) },
  ]
  for (const message of bad) {
    const { status, body } = await call('Register', message)
    expect([status, body.code]).toEqual([400, 'invalid_argument'])
  }
  expect((await owner.client.get(at)).body).toEqual(before)
})

describe('the protocol', () => {
  const post = (path: string, headers: Record<string, string>, body: Uint8Array<ArrayBuffer> | string) =>
    fetch(`${service.url}/api/actions/${path}`, { method: 'POST', headers, body })
  const proto = { 'content-type': 'application/proto', 'connect-protocol-version': '1' }
  const ping = 'ping.v1.PingService/Ping'

  test('answers protobuf, plain and compressed', async () => {
    const message = toBinary(PingRequestSchema, create(PingRequestSchema, { data: 'runner' }))
    const plain = await post(ping, proto, new Uint8Array(message))
    expect(plain.headers.get('content-type')).toBe('application/proto')
    expect(fromBinary(PingResponseSchema, new Uint8Array(await plain.arrayBuffer())).data).toBe('Hello, runner!')
    const token = await tokenOf(scopes[2] ?? '')
    const asked = toBinary(RegisterRequestSchema, create(RegisterRequestSchema, { name: 'packed', token }))
    const packed = await post(
      'runner.v1.RunnerService/Register',
      { ...proto, 'content-encoding': 'gzip', 'accept-encoding': 'gzip' },
      new Uint8Array(gzipSync(asked)),
    )
    expect(packed.status).toBe(200)
    const { runner } = fromBinary(RegisterResponseSchema, new Uint8Array(await packed.arrayBuffer()))
    expect(runner).toMatchObject({ name: 'packed' })
  })

  test('refuses what it does not know', async () => {
    expect((await post(ping, { 'content-type': 'text/plain' }, '{}')).status).toBe(415)
    expect((await post('ping.v1.PingService/Nothing', proto, '')).status).toBe(404)
    expect((await post('nothing.v1.Service/Ping', proto, '')).status).toBe(404)
    expect((await fetch(`${service.url}/api/actions/${ping}`)).status).toBe(405)
    expect((await post(ping, { 'content-type': 'application/json' }, '{')).status).toBe(400)
    // The library calls bytes that are no message `internal`; the text says what they are.
    expect(await (await post(ping, proto, 'no protobuf')).text()).toContain('parse binary')
  })

  test('a message that is too large, or unpacks to too much, is refused', async () => {
    const large = JSON.stringify({ data: 'x'.repeat(100_001) })
    const json = { 'content-type': 'application/json' }
    expect((await post(ping, json, large)).status).toBe(429)
    const bomb = new Uint8Array(gzipSync(large))
    expect((await post(ping, { ...json, 'content-encoding': 'gzip' }, bomb)).status).toBe(400)
    expect((await post(ping, { ...json, 'content-encoding': 'gzip' }, '{}')).status).toBe(400)
  })
})
