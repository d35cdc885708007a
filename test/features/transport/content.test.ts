import { afterAll, beforeAll, expect, test } from 'bun:test'
import { licenseTexts } from '../../../src/templates/license-texts.ts'
import { startTestService, type TestService, type TestUser } from '../../harness/service.ts'
import { commit, hostRepository, workTree } from './hosted.ts'

let service: TestService
let owner: TestUser

beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
})
afterAll(() => service.stop())

test('languages are counted as .gitattributes say', async () => {
  const { git } = service
  const repo = await hostRepository(service, owner)
  const cwd = await workTree(git, {
    'a.go': 'x'.repeat(10),
    'lib/b.py': 'x'.repeat(20),
    'vendor/c.rb': 'x'.repeat(40),
    'd.weird': 'x'.repeat(80),
  })
  const languages = async () => {
    await git(['push', '-q', repo.as(owner), 'main'], { cwd })
    await service.drain()
    return (await service.anonymous.get(`/repos/${owner.name}/${repo.name}/languages`)).body
  }
  expect(await languages()).toEqual({ Python: 20, Go: 10 })
  await commit(git, cwd, {
    '.gitattributes': '*.weird linguist-language=c++\nvendor/** -linguist-vendored\n',
    'lib/.gitattributes': '* linguist-generated\n',
  })
  expect(await languages()).toEqual({ 'C++': 80, Ruby: 40, Go: 10 })
  await git(['rm', '-q', '-r', '.gitattributes', 'lib/.gitattributes'], { cwd })
  await commit(git, cwd, { 'a.go': 'x'.repeat(30) })
  expect(await languages()).toEqual({ Go: 30, Python: 20 })
})

test('licenses are listed to those who may read the code, and to nobody else', async () => {
  const { git } = service
  const texts = await licenseTexts()
  const cwd = await workTree(git, { LICENSE: texts.get('MIT') ?? '', COPYING: texts.get('MPL-2.0') ?? '' })
  const [open, hidden, none] = [
    await hostRepository(service, owner),
    await hostRepository(service, owner, { isPrivate: true }),
    await hostRepository(service, owner, { hasCode: false }),
  ]
  for (const repo of [open, hidden]) await git(['push', '-q', repo.as(owner), 'main'], { cwd })
  await service.drain()
  const licenses = (name: string) => `/repos/${owner.name}/${name}/licenses`
  for (const [client, repo] of [[service.anonymous, open] as const, [owner.client, hidden] as const]) {
    const answer = await client.get(licenses(repo.name))
    expect([answer.status, answer.body]).toEqual([200, ['MIT', 'MPL-2.0']])
  }
  for (const name of [hidden.name, none.name, 'unknown'])
    expect((await service.anonymous.get(licenses(name))).status).toBe(404)
  const bare = await service.createRepository(owner, { auto_init: false })
  expect((await owner.client.get(`${bare.path}/licenses`)).body).toEqual([])
})
