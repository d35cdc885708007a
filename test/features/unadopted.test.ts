import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cp, mkdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let owner: TestUser
let source: TestRepository
let root: string

beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  source = await service.createRepository(owner)
  root = service.context.config.repositoriesDir
})
afterAll(() => service.stop())

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

/** A real bare repository at `<owner>/<name>.git`. */
async function place(path: string): Promise<string> {
  const folder = join(root, `${path}.git`)
  const made = join(root, '@repositories', (source.id & 255).toString(16).padStart(2, '0'), `${source.id}.git`)
  await mkdir(join(folder, '..'), { recursive: true })
  await cp(made, folder, { recursive: true })
  return folder
}

const list = async (query: Record<string, string | number> = {}) => {
  const answer = await service.admin.client.get('/admin/unadopted', query)
  return [answer.status, answer.body, answer.headers.get('x-total-count')]
}
const adopt = async (path: string) => (await service.admin.client.post(`/admin/unadopted/${path}`)).status
const remove = async (path: string) => (await service.admin.client.delete(`/admin/unadopted/${path}`)).status

test('lists what nobody has, by pages and by patterns in linear time', async () => {
  expect(await list()).toEqual([200, [], '0'])
  await place(`${owner.name}/una`)
  await place(`${owner.name}/unb`)
  await place('nobody/unc')
  await place(`${owner.name}/${source.name}`)
  const all = ['nobody/unc', `${owner.name}/una`, `${owner.name}/unb`]
  expect(await list()).toEqual([200, all, '3'])
  expect(await list({ limit: 2, page: 2 })).toEqual([200, all.slice(2), '3'])
  expect(await list({ limit: 1_000_000, page: 99 })).toEqual([200, [], '3'])
  expect(await list({ pattern: `${owner.name.toUpperCase()}/una` })).toEqual([200, [`${owner.name}/una`], '1'])
  expect(await list({ pattern: `${owner.name}/un[bc]` })).toEqual([200, [`${owner.name}/unb`], '1'])
  expect(await list({ pattern: 'nob*' })).toEqual([200, ['nobody/unc'], '1'])
  expect(await list({ pattern: '*' })).toEqual([200, all, '3'])
  expect(await list({ pattern: '../*' })).toEqual([200, [], '0'])
  expect(await list({ pattern: '@repositories/*' })).toEqual([200, [], '0'])
  for (const pattern of ['[', '{a*,'.repeat(60), '*'.repeat(3000)])
    expect([pattern.slice(0, 9), (await list({ pattern }))[0]]).toEqual([pattern.slice(0, 9), 422])
})

test('lists every folder there is, in order, to the last page', async () => {
  const names = Array.from({ length: 1300 }, (_, index) => `many/r${String(index).padStart(5, '0')}`)
  for (const name of names) await mkdir(join(root, `${name}.git`), { recursive: true })
  const page = (number: number) => list({ pattern: 'many', limit: 50, page: number })
  for (const number of [1, 10, 11, 26])
    expect(await page(number)).toEqual([200, names.slice(50 * (number - 1), 50 * number), '1300'])
  expect(await page(27)).toEqual([200, [], '1300'])
  await rm(join(root, 'many'), { recursive: true })
})

test('adopts a folder whole: refs, default branch, private, and the folder goes', async () => {
  const folder = await place(`${owner.name}/mine`)
  await writeFile(join(folder, 'HEAD'), 'ref: refs/heads/gone\n')
  await mkdir(join(folder, 'hooks'), { recursive: true })
  await writeFile(join(folder, 'hooks', 'post-receive'), '#!/bin/sh\ntouch /tmp/hearth-was-here\n', { mode: 0o755 })
  expect(await adopt(`${owner.name}/mine`)).toBe(204)
  const adopted = await owner.client.get(`/repos/${owner.name}/mine`)
  expect(adopted.body).toMatchObject({ private: true, empty: false, default_branch: 'main', branch_count: 1 })
  expect((await owner.client.get(`/repos/${owner.name}/mine/branches/main`)).status).toBe(200)
  expect((await service.anonymous.get(`/repos/${owner.name}/mine`)).status).toBe(404)
  expect(await exists(folder)).toBe(false)
  const id = adopted.number('id')
  const stored = join(root, '@repositories', (id & 255).toString(16).padStart(2, '0'), `${id}.git`)
  expect(await exists(join(stored, 'hooks', 'post-receive'))).toBe(false)
  expect(await adopt(`${owner.name}/mine`)).toBe(404)
  expect(await remove(`${owner.name}/mine`)).toBe(404)
})

test('refuses what is no sound repository, and leaves it where it is', async () => {
  const empty = join(root, owner.name, 'empty.git')
  await mkdir(empty, { recursive: true })
  expect(await adopt(`${owner.name}/empty`)).toBe(422)
  const damaged = await place(`${owner.name}/damaged`)
  await rename(join(damaged, 'objects'), join(damaged, 'lost'))
  await mkdir(join(damaged, 'objects'))
  expect(await adopt(`${owner.name}/damaged`)).toBe(422)
  expect([await exists(empty), await exists(damaged)]).toEqual([true, true])
  expect((await owner.client.get(`/repos/${owner.name}/damaged`)).status).toBe(404)
  await place(`${owner.name}/a.wiki`)
  expect(await adopt(`${owner.name}/a.wiki`)).toBe(422)
  expect(await remove(`${owner.name}/damaged`)).toBe(204)
  expect(await exists(damaged)).toBe(false)
})

test('never leaves the root and follows no links', async () => {
  const outside = join(service.folder, 'outside')
  await mkdir(join(outside, 'secret.git'), { recursive: true })
  await symlink(outside, join(root, 'linked'))
  await symlink(join(outside, 'secret.git'), join(root, owner.name, 'link.git'))
  await service.admin.client.post('/admin/users', {
    username: 'linked',
    email: 'linked@localhost.localdomain',
    password: 'correct horse battery',
  })
  for (const path of [
    'linked/secret',
    `${owner.name}/link`,
    '..%2F..%2Foutside/secret',
    `${owner.name}/..%2F..%2Foutside%2Fsecret`,
    '%2E%2E/outside',
    '@repositories/00',
    `${owner.name}/%00`,
  ])
    expect([path, await adopt(path), await remove(path)]).toEqual([path, 404, 404])
  expect(await exists(join(outside, 'secret.git'))).toBe(true)
  expect((await list({ pattern: 'linked/*' }))[1]).toEqual([])
})

test('knows only folders of known owners without a repository, and only administrators', async () => {
  expect(await adopt('nobody/unc')).toBe(404)
  expect(await remove('nobody/unc')).toBe(404)
  expect(await adopt(`${owner.name}/nothing`)).toBe(404)
  expect(await adopt(`${owner.name}/${source.name}`)).toBe(404)
  expect(await remove(`${owner.name}/${source.name}`)).toBe(404)
  for (const [client, status] of [
    [owner.client, 403],
    [service.anonymous, 401],
  ] as const) {
    expect((await client.get('/admin/unadopted')).status).toBe(status)
    expect((await client.post(`/admin/unadopted/${owner.name}/una`)).status).toBe(status)
    expect((await client.delete(`/admin/unadopted/${owner.name}/una`)).status).toBe(status)
  }
  expect(await exists(join(root, owner.name, 'una.git'))).toBe(true)
})
