import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { startTestService, type TestService, type TestUser } from '../../harness/service.ts'
import { commit, type Hosted, hostRepository, workTree } from './hosted.ts'

let service: TestService
let owner: TestUser
let repo: Hosted
let cwd: string
let head: string

beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  repo = await hostRepository(service, owner)
  cwd = await workTree(service.git, {
    'README.md': 'hello\n',
    'data.bin': crypto.getRandomValues(new Uint8Array(50_000)),
  })
  await commit(service.git, cwd, { 'a.txt': 'a' })
  head = await commit(service.git, cwd, { 'b.txt': 'b' })
  await service.git(['push', '-q', repo.as(owner), 'main'], { cwd })
})
afterAll(() => service.stop())

const objectsIn = async (folder: string) =>
  (await service.git(['rev-list', '--all', '--objects', '--missing=print'], { cwd: folder })).split('\n')

describe('a clone', () => {
  test.each(['0', '1', '2'])('speaks protocol version %s', async (version) => {
    const folder = join(service.git.folder, `clone-v${version}`)
    const env = { GIT_TRACE_PACKET: '1' }
    const run = await service.git.run(['-c', `protocol.version=${version}`, 'clone', repo.url, folder], { env })
    expect(run.exitCode).toBe(0)
    expect(await service.git(['rev-parse', 'HEAD'], { cwd: folder })).toBe(head)
    expect(run.stderr.includes('< version 2')).toBe(version === '2')
    expect(run.stderr.includes('< version 1')).toBe(version === '1')
  })

  test('may be shallow, and deepen later', async () => {
    const folder = join(service.git.folder, 'shallow')
    await service.git(['clone', '-q', '--depth', '1', repo.url, folder])
    expect(await service.git(['rev-list', '--count', 'HEAD'], { cwd: folder })).toBe('1')
    await service.git(['fetch', '-q', '--unshallow'], { cwd: folder })
    expect(await service.git(['rev-list', '--count', 'HEAD'], { cwd: folder })).toBe('3')
  })

  test('may be partial, and gets a blob when it is needed', async () => {
    const folder = join(service.git.folder, 'partial')
    await service.git(['clone', '-q', '--no-checkout', '--filter=blob:none', repo.url, folder])
    expect((await objectsIn(folder)).filter((line) => line.startsWith('?')).length).toBe(4)
    expect(await service.git(['show', 'HEAD:a.txt'], { cwd: folder })).toBe('a')
  })

  test('works without `.git`, under an old name, and not as files', async () => {
    await service.git(['ls-remote', repo.url.replace(/\.git$/, '')])
    const dumb = await fetch(`${repo.url}/info/refs`)
    expect(dumb.status).toBe(403)
    expect((await fetch(`${repo.url}/HEAD`)).status).toBe(404)
    expect((await fetch(`${repo.url}/objects/info/packs`)).status).toBe(404)
  })

  test('of an empty repository is empty', async () => {
    const empty = await hostRepository(service, owner)
    const run = await service.git.run(['clone', empty.url, 'empty'])
    expect(run).toMatchObject({ exitCode: 0 })
    expect(run.stderr).toContain('empty repository')
  })
})

describe('a fetch', () => {
  test('brings what is new, with a zipped request', async () => {
    const folder = join(service.git.folder, 'fetching')
    await service.git(['clone', '-q', repo.url, folder])
    // Many wants and haves: git zips a request above a kilobyte.
    const branches = Array.from({ length: 60 }, (_, index) => `HEAD:refs/heads/wide/${index}`)
    for (const index of [1, 2, 3]) await commit(service.git, cwd, { [`more-${index}`]: `${index}` })
    await service.git(['push', '-q', repo.as(owner), ...branches], { cwd })
    const env = { GIT_TRACE_CURL: '1' }
    const run = await service.git.run(['-c', 'protocol.version=0', 'fetch', '-q'], { cwd: folder, env })
    expect(run.exitCode).toBe(0)
    expect(run.stderr).toContain('Content-Encoding: gzip')
    expect(await service.git(['branch', '-r', '--list', 'origin/wide/*'], { cwd: folder })).toContain('wide/59')
  })

  test('keeps refs of pull requests readable and hidden ones hidden', async () => {
    const { git } = service.context
    await git.updateRefs(repo.id, [
      { ref: 'refs/pull/1/head', new: head },
      { ref: 'refs/hidden/x', new: head },
    ])
    const listed = await service.git(['ls-remote', repo.url])
    expect(listed).toContain('refs/pull/1/head')
    expect(listed).not.toContain('refs/hidden')
  })
})
