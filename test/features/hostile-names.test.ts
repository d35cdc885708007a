import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { storagePath } from '../../src/git/storage.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

/** Names that mean something to Git, to a shell or to a file system, wherever a name may stand. */
const NAMES = [
  ...[
    '-x',
    '--upload-pack=x',
    '--output=x',
    '--all',
    '..',
    '../x',
    'a/../../../etc/passwd',
    '/etc/passwd',
    '.git/config',
  ],
  ...['a\0b', 'a\nb', 'main:README.md', ':/first', ':(top)x', '@{-1}', 'main@{upstream}', '^main', 'main..', 'x^{/y}'],
  ...[
    'refs/heads/-x',
    'refs/../HEAD',
    'HEAD.lock',
    '\\..\\x',
    'C:\\x',
    '$(id)',
    '`id`',
    '*',
    'a'.repeat(5000),
    '\ufffd',
    '.',
  ],
]

/** Git allows these: they are names like any other where no shell reads them. */
const PLAIN = ['$(id)', '`id`']

let service: TestService
let owner: TestUser
let repository: TestRepository
beforeAll(async () => {
  service = await startTestService({ settings: { RATE_LIMIT: 'off' } })
  owner = await service.createUser()
  repository = await service.createRepository(owner)
})
afterAll(() => service.stop())

const folder = () => join(service.context.config.repositoriesDir, storagePath(repository.id))
const state = async () => [
  await service.git(['--git-dir', folder(), 'for-each-ref']),
  await service.git(['--git-dir', folder(), 'fsck', '--strict', '--full']),
  readdirSync(service.context.config.repositoriesDir).sort(),
  readdirSync(folder()).sort(),
]

const PLACES = [
  ...['contents', 'contents-ext', 'raw', 'media', 'editorconfig', 'git/refs', 'compare', 'archive'].map(
    (place) => (name: string) => `${place}/${encodeURIComponent(name)}`,
  ),
  ...['trees', 'blobs', 'tags', 'commits', 'notes'].map(
    (place) => (name: string) => `git/${place}/${encodeURIComponent(name)}`,
  ),
  ...['contents/README.md?ref=', 'raw/README.md?ref=', 'commits?sha=', 'commits?path=', 'commits?not='].map(
    (place) => (name: string) => place + encodeURIComponent(name),
  ),
  (name: string) => `git/commits/${encodeURIComponent(name)}.patch`,
  (name: string) => `compare/${encodeURIComponent(name)}...${encodeURIComponent(name)}`,
  (name: string) => `archive/main.zip?path=${encodeURIComponent(name)}`,
  (name: string) => `file-contents?body=${encodeURIComponent(JSON.stringify({ files: [name] }))}`,
]

test('whoever reads by such a name is told that there is none, or that it cannot be one', async () => {
  const before = await state()
  const wrong: string[] = []
  for (const place of PLACES)
    for (const name of NAMES) {
      const answer = await fetch(`${service.url}/api/v1${repository.path}/${place(name)}`)
      const text = await answer.text()
      if (answer.status >= 500 || /root:|\[core\]|\[remote/.test(text))
        wrong.push(`${place(name)}: ${answer.status} ${text}`)
    }
  expect(wrong).toEqual([])
  expect(await state()).toEqual(before)
})

test('whoever writes by such a name writes nothing, or a file of that very name', async () => {
  const before = await state()
  const wrong: string[] = []
  const content = Buffer.from('x').toString('base64')
  for (const name of NAMES) {
    const path = `${repository.path}/contents`
    const answers = [
      await owner.client.post(path, { files: [{ operation: 'create', path: name, content }] }),
      await owner.client.post(path, { files: [{ operation: 'rename', from_path: name, path: 'y' }] }),
      await owner.client.post(`${path}/z`, { content, branch: name }),
      await owner.client.post(`${path}/z`, { content, new_branch: name }),
      await owner.client.post(`${repository.path}/diffpatch`, { content: 'x', branch: name }),
    ]
    for (const [index, { status, text }] of answers.entries())
      if (status >= 500 || (index > 1 && status < 400 && !PLAIN.includes(name)))
        wrong.push(`${index} ${name.slice(0, 50)}: ${status} ${text}`)
  }
  expect(wrong).toEqual([])
  const [refs, ...rest] = await state()
  const branches = ['main', ...PLAIN].map((name) => `refs/heads/${name}`)
  const names = String(refs)
    .split('\n')
    .map((line) => line.split('\t')[1])
  expect(names.sort()).toEqual(branches.sort())
  expect(rest).toEqual(['', ...before.slice(2)])
  const made = await service.git(['--git-dir', folder(), 'ls-tree', '-r', '--name-only', 'main'])
  expect(made.split('\n').filter((name) => /(^|\/)(\.\.?|\.git|etc)(\/|$)/.test(name))).toEqual([])
})
