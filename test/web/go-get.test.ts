import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let alice: TestUser
let open: TestRepository
let closed: TestRepository
beforeAll(async () => {
  service = await startTestService()
  alice = await service.createUser('alice')
  open = await service.createRepository(alice, { default_branch: 'trunk' })
  closed = await service.createRepository(alice, { private: true })
})
afterAll(() => service.stop())

const ask = (path: string, init: RequestInit = {}) => fetch(`${service.url}${path}`, { redirect: 'manual', ...init })
const module = (path: string) => `${service.url.replace(/^http:\/\//, '').replace(/\/$/, '')}/${path}`

test('the page names the module, where it is cloned from, and where its source is', async () => {
  const answer = await ask(`/alice/${open.name}?go-get=1`)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  const name = module(`alice/${open.name}`)
  const page = await answer.text()
  expect(page).toContain(`<meta name="go-import" content="${name} git http://${name}.git">`)
  expect(page).toContain(`<meta name="go-source" content="${name} _ http://${name}/src/branch/main{/dir} `)
  expect(page).toContain(`go get --insecure ${name}`)
  const clone = join(service.git.folder, 'module')
  await service.git(['clone', '-q', `http://${name}.git`, clone])
})

test('packages below, and names of routes among them, belong to the module at the root', async () => {
  const root = await (await ask(`/alice/${open.name}?go-get=1`)).text()
  for (const path of ['/', '.git', '/sub', '/v2', '/raw/branch', '/archive/tar', '/info/refs', '/media/x', '/a%20b/c'])
    expect([path, await (await ask(`/alice/${open.name}${path}?go-get=1`)).text()]).toEqual([path, root])
})

test('hidden and absent repositories and owners are answered like all others, whoever asks', async () => {
  await service.createUser('hidden')
  await service.admin.client.patch('/admin/users/hidden', { login_name: 'hidden', visibility: 'private' })
  const told = async (owner: string, repo: string, init?: RequestInit) => {
    const answer = await ask(`/${owner}/${repo}/sub?go-get=1`, init)
    const headers = [...answer.headers].filter(([name]) => !['date', 'x-request-id', 'content-length'].includes(name))
    return [answer.status, headers, (await answer.text()).replaceAll(`/${owner}/${repo}`, '/OWNER/REPO')]
  }
  const expected = await told('alice', open.name)
  const wrong = { headers: { authorization: 'token nonsense' } }
  expect(await told('alice', closed.name)).toEqual(expected)
  expect(await told('alice', 'absent')).toEqual(expected)
  expect(await told('hidden', 'absent')).toEqual(expected)
  expect(await told('nobody', 'absent')).toEqual(expected)
  expect(await told('alice', closed.name, wrong)).toEqual(expected)
})

test('nothing else is answered so', async () => {
  for (const path of [
    '/alice?go-get=1',
    '/?go-get=1',
    '/api/v1/version?go-get=1',
    `/alice/${open.name}/raw/x?go-get=0`,
  ])
    expect([path, await (await ask(path)).text()]).toEqual([path, expect.not.stringContaining('go-import')])
  expect((await ask('/alice/%3Cscript%3E?go-get=1')).status).toBe(404)
  const posted = await ask(`/alice/${open.name}?go-get=1`, { method: 'POST' })
  expect(await posted.text()).not.toContain('go-import')
})
