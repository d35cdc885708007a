import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../../harness/service.ts'
import { content, lfsClient, lfsOf, nameOf, uploaded } from './stage.ts'

const clock = { time: Date.now(), now: () => new Date(clock.time) }

let service: TestService
let owner: TestUser
let writer: TestUser
let repo: TestRepository
beforeAll(async () => {
  service = await startTestService({ clock })
  owner = await service.createUser('owner')
  writer = await service.createUser('writer')
  repo = await service.createRepository(owner, { name: 'one', private: true })
  await service.createRepository(owner, { name: 'other', private: true })
  for (const name of ['one', 'other'])
    await owner.client.put(`/repos/owner/${name}/collaborators/writer`, { permission: 'write' })
})
afterAll(() => service.stop())

/** The header of an action that was given to the writer. */
async function headerFor(operation: 'download' | 'upload'): Promise<Record<string, string>> {
  const client = lfsOf(service, 'owner/one', writer)
  const named = operation === 'upload' ? content() : await uploaded(client)
  const { actions } = await client.one(operation, nameOf(named))
  const action = actions?.[operation]
  expect(action?.expires_in).toBe(1800)
  return action?.header ?? {}
}

const by = (header: Record<string, string>, path = 'owner/one') => lfsClient(service.url, path, header)

test('a token stands for credentials for one repository, one purpose and half an hour', async () => {
  const [up, down] = [await headerFor('upload'), await headerFor('download')]
  expect(JSON.stringify(up)).not.toContain(writer.token)
  const sent = await uploaded(by(up))
  expect((await by(up).get(sent)).status).toBe(200)
  expect((await by(up).post('/locks/verify', {})).status).toBe(200)
  expect((await by(down).get(sent)).status).toBe(200)
  expect((await by(down).put(content())).status).toBe(401)
  expect((await by(down).batch('upload', [])).status).toBe(401)
  for (const header of [up, down]) {
    expect((await by(header, 'owner/other').batch('download', [])).status).toBe(404)
    expect((await by(header, 'owner/none').batch('download', [])).status).toBe(404)
    // Nothing but Git LFS knows it.
    expect((await fetch(`${service.url}/api/v1/repos/owner/one`, { headers: header })).status).toBe(401)
    expect(
      (await fetch(`${service.url}/owner/one.git/info/refs?service=git-upload-pack`, { headers: header })).status,
    ).toBe(401)
  }
  clock.time += 1800 * 1000
  expect((await by(up).get(sent)).status).toBe(401)
  expect((await by(down).get(sent)).status).toBe(401)
})

test('a token that was changed, or is none, is refused', async () => {
  const { Authorization: token = '' } = await headerFor('upload')
  const [, body = '', signature = ''] = token.split('.')
  const forged = Buffer.from(
    Buffer.from(body, 'base64url').toString().replace('"isDeployKey":false', '"isDeployKey":true'),
  )
  for (const text of [
    `Bearer lfs.${forged.toString('base64url')}.${signature}`,
    `Bearer lfs.${body}.${'A'.repeat(signature.length)}`,
    `Bearer lfs.${body}`,
    'Bearer lfs.',
    'Bearer lfs...',
    `Bearer ${body}.${signature}`,
  ])
    expect((await by({ authorization: text }).batch('download', [])).status).toBe(401)
})

test('what the account may not do any more, its tokens do not', async () => {
  const up = await headerFor('upload')
  await owner.client.put(`${repo.path}/collaborators/writer`, { permission: 'read' })
  expect((await by(up).put(content())).status).toBe(403)
  expect((await by(up).batch('download', [])).status).toBe(200)
  await owner.client.delete(`${repo.path}/collaborators/writer`)
  expect((await by(up).batch('download', [])).status).toBe(404)
  await owner.client.put(`${repo.path}/collaborators/writer`, { permission: 'write' })
  expect((await by(up).put(content())).status).toBe(200)
  await service.admin.client.delete('/admin/users/writer?purge=true')
  expect((await by(up).put(content())).status).toBe(401)
})
