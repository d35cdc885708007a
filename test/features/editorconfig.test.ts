import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { propertiesOf } from '../../src/features/editorconfig/parse.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let owner: TestUser
let repository: TestRepository
beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  repository = await service.createRepository(owner)
})
afterAll(() => service.stop())

const text = `; a comment
root = true
[*]
indent_style = SPACE
Indent_Size = 4
insert_final_newline = true
[*.md]
trim_trailing_whitespace = false
[Makefile]
indent_style = tab
indent_size = unset
`

const store = (at: TestRepository, content: string, option: object = {}) =>
  owner.client.post(`${at.path}/contents/.editorconfig`, {
    content: Buffer.from(content).toString('base64'),
    ...option,
  })

test('says how a file is edited, whether or not it is there', async () => {
  expect((await service.anonymous.get(`${repository.path}/editorconfig/a.go`)).status).toBe(404)
  expect((await store(repository, text)).status).toBe(201)
  const ask = (path: string) => service.anonymous.get(`${repository.path}/editorconfig/${path}`)
  const usual = { indent_style: 'space', indent_size: '4', tab_width: 4, insert_final_newline: true }
  expect((await ask('a.go')).body).toEqual(usual)
  expect((await ask('docs/a%20b.md')).body).toEqual({ ...usual, trim_trailing_whitespace: false })
  expect((await ask('x/Makefile')).body).toEqual({
    indent_style: 'tab',
    indent_size: 'tab',
    insert_final_newline: true,
  })
})

test('is that of the revision', async () => {
  const other = await service.createRepository(owner)
  await store(other, '[*]\ncharset = utf-8\n', { new_branch: 'side' })
  expect((await owner.client.get(`${other.path}/editorconfig/a`)).status).toBe(404)
  expect((await owner.client.get(`${other.path}/editorconfig/a`, { ref: 'side' })).body).toEqual({ charset: 'utf-8' })
  expect((await owner.client.get(`${other.path}/editorconfig/a`, { ref: '-x' })).status).toBe(404)
})

test('is not there in an empty repository, for strangers, and where nobody wrote it by hand', async () => {
  const empty = await service.createRepository(owner, { auto_init: false })
  expect((await owner.client.get(`${empty.path}/editorconfig/a`)).status).toBe(404)
  const hidden = await service.createRepository(owner, { private: true })
  await store(hidden, text)
  expect((await service.anonymous.get(`${hidden.path}/editorconfig/a`)).status).toBe(404)
  expect((await owner.client.get(`${hidden.path}/editorconfig/a`)).status).toBe(200)
  expect((await owner.client.get(`${hidden.path}/editorconfig/${'a'.repeat(1025)}`)).status).toBe(404)
  const long = await service.createRepository(owner)
  await store(long, '# long\n'.repeat(4096))
  expect((await owner.client.get(`${long.path}/editorconfig/a`)).status).toBe(404)
})

describe('a glob', () => {
  test.each([
    ['*.js', 'lib/a.js', true],
    ['/*.js', 'lib/a.js', false],
    ['/*.js', 'a.js', true],
    ['lib/**.js', 'lib/deep/a.js', true],
    ['lib/**/a.js', 'lib/a.js', true],
    ['lib/*.js', 'lib/deep/a.js', false],
    ['{a,b}.js', 'b.js', true],
    ['{single}.js', '{single}.js', true],
    ['{single}.js', 'single.js', false],
    ['f{8..11}.txt', 'f10.txt', true],
    ['f{8..11}.txt', 'f12.txt', false],
    ['f{3..3}', 'f3', true],
    ['f{1..999999999}', 'f3', false],
    ['[!a].c', 'b.c', true],
    ['[', '[', false],
    ['{'.repeat(200), 'a', false],
  ])('%s and %s: %p', (glob, path, fits) => {
    expect(propertiesOf(`[${glob}]\nk = v\n`, path).get('k')).toBe(fits ? 'v' : undefined)
  })
})
