import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { content, lfsClient, lfsOf, nameOf, uploaded } from '../features/lfs/stage.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'
import { addKey, makeKey, ssh, type TestKey } from '../harness/ssh.ts'

let service: TestService
let owner: TestUser
let repo: TestRepository
let key: TestKey
let keyId: number
beforeAll(async () => {
  service = await startTestService({ settings: { SSH_ENABLED: 'true', SSH_PORT: '0' } })
  owner = await service.createUser('owner')
  repo = await service.createRepository(owner, { name: 'big', private: true })
  key = makeKey(service)
  keyId = await addKey(owner, key)
})
afterAll(() => service.stop())

const Authenticated = Type.Object({
  href: Type.String(),
  header: Type.Record(Type.String(), Type.String()),
  expires_in: Type.Integer(),
})

const ask = (command: string, by = key) => ssh(service, by, { command })

async function authenticate(operation: string, by = key) {
  const { exitCode, stdout, stderr } = await ask(`git-lfs-authenticate owner/big.git ${operation}`, by)
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  const { href, header } = Value.Parse(Authenticated, JSON.parse(stdout))
  expect(href).toBe(`${service.url}/owner/big.git/info/lfs`)
  return lfsClient(service.url, 'owner/big', header)
}

test('a key opens Git LFS over HTTP: to send, to read, to lock', async () => {
  const up = await authenticate('upload')
  const sent = await uploaded(up)
  expect((await up.post('/locks', { path: 'a' })).status).toBe(201)
  const down = await authenticate('download')
  expect((await down.get(sent)).status).toBe(200)
  expect((await down.batch('upload', [])).status).toBe(401)
  for (const path of ["'/owner/big.git'", "'owner/big'", 'owner/big', '/owner/big.git'])
    expect((await ask(`git-lfs-authenticate ${path} download`)).exitCode).toBe(0)
})

test('what it opened ends with the key', async () => {
  const another = makeKey(service)
  const id = await addKey(owner, another)
  const up = await authenticate('upload', another)
  const { actions } = await up.one('upload', nameOf(content()))
  expect((await up.batch('upload', [])).status).toBe(200)
  await owner.client.delete(`/user/keys/${id}`)
  expect((await up.batch('upload', [])).status).toBe(401)
  const byAction = lfsClient(service.url, 'owner/big', actions?.upload?.header)
  expect((await byAction.put(content())).status).toBe(401)
  expect(keyId).not.toBe(id)
})

test('a key of the repository reads, and sends where it may push; it locks nothing', async () => {
  const [reading, writing] = [makeKey(service), makeKey(service)]
  const deploy = (line: string, readOnly: boolean) =>
    owner.client.post(`${repo.path}/keys`, { title: line.slice(-20), key: line, read_only: readOnly })
  const made = await deploy(reading.line, true)
  expect(made.status).toBe(201)
  expect((await deploy(writing.line, false)).status).toBe(201)
  const down = await authenticate('download', reading)
  expect((await down.batch('download', [])).status).toBe(200)
  const refused = await ask('git-lfs-authenticate owner/big.git upload', reading)
  expect(refused).toMatchObject({ exitCode: 1, stdout: '' })
  expect(refused.stderr).toContain('read-only')
  const up = await authenticate('upload', writing)
  await uploaded(up)
  await lfsOf(service, 'owner/big', owner).post('/locks', { path: 'theirs' })
  expect((await up.post('/locks', { path: 'b' })).status).toBe(403)
  const verified = await up.post('/locks/verify', {})
  expect(verified.body.ours).toEqual([])
  expect(JSON.stringify(verified.body.theirs)).toContain('theirs')
  await owner.client.delete(`${repo.path}/keys/${made.number('id')}`)
  expect((await down.batch('download', [])).status).toBe(401)
})

test('hidden and absent repositories are answered alike', async () => {
  const stranger = await service.createUser()
  const theirs = makeKey(service)
  await addKey(stranger, theirs)
  const answers = []
  for (const path of ['owner/big.git', 'owner/none.git'])
    for (const operation of ['upload', 'download'])
      answers.push(await ask(`git-lfs-authenticate ${path} ${operation}`, theirs))
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
  expect(answers[0]).toMatchObject({ exitCode: 1, stdout: '' })
})

test.each([
  'git-lfs-authenticate',
  'git-lfs-authenticate owner/big.git',
  'git-lfs-authenticate owner/big.git erase',
  'git-lfs-authenticate owner/big.git upload 123',
  "git-lfs-authenticate 'owner/big.git' 'upload'",
  'git-lfs-authenticate "owner/big.git" upload',
  'git-lfs-authenticate owner/big.git upload; id',
  'git-lfs-authenticate ../owner/big.git upload',
  'git-lfs-authenticate owner/big.wiki.git upload',
  'git-lfs-authenticate --help upload',
  "git-lfs-transfer 'owner/big.git' upload",
])('refused: %s', async (command) => {
  expect(await ask(command)).toMatchObject({ exitCode: 1, stdout: '' })
})
