import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { watch } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { GitErrorCode } from '../../src/git/errors.ts'
import type { TreeChange } from '../../src/git/model.ts'
import { until } from '../harness/until.ts'
import { ann, codeOf, commit, initialCommit, must, openStage, type Stage } from './stage.ts'

let stage: Stage

beforeAll(async () => {
  stage = await openStage()
})

afterAll(() => stage.close())

const create = (path: string, content = 'x'): TreeChange => ({ op: 'create', path, content })

async function pathsOf(id: number, revision = 'main'): Promise<string[]> {
  const { entries } = await stage.git.readTree(id, { revision, isRecursive: true })
  return entries.filter((entry) => entry.kind !== 'folder').map((entry) => entry.path)
}

describe.each(['sha1', 'sha256'] as const)('a new repository in %s', (objectFormat) => {
  const id = objectFormat === 'sha1' ? 1 : 2

  test('is what git reads as sound, with its first commit', async () => {
    const built = await stage.git.createRepository(id, { objectFormat, defaultBranch: 'main', initialCommit })
    const { sha = '' } = built.commit ?? {}
    expect(built.commit).toEqual(await stage.git.readCommit(id, 'main'))
    expect(sha).toHaveLength(objectFormat === 'sha1' ? 40 : 64)
    const show = await must(['--git-dir', stage.folder(id), 'log', '--format=%H %an <%ae> %at %cn %s'])
    expect(show).toBe(`${sha} Ann <ann@example.com> 1714979289 Ann Initial commit`)
    expect(await pathsOf(id)).toEqual(['README.md', 'src/main.ts'])
    expect(await stage.git.fsck(id, { isFull: true })).toEqual({ isSound: true, problems: [] })
    expect(await must(['--git-dir', stage.folder(id), 'fsck', '--strict'])).toBe('')
    expect(await stage.git.objectFormat(id)).toBe(objectFormat)
  })

  test('takes files in one commit and says what they became', async () => {
    const made = await commit(stage.git, id, [
      create('docs/a/b.txt', 'b'),
      create('ä\n.txt', 'ä'),
      { op: 'create', path: 'run', content: '#!', isExecutable: true },
      { op: 'update', path: 'README.md', content: new Uint8Array([0, 255]) },
      { op: 'rename', fromPath: 'src/main.ts', path: 'lib/main.ts' },
    ])
    expect(await pathsOf(id)).toEqual(['README.md', 'docs/a/b.txt', 'lib/main.ts', 'run', 'ä\n.txt'])
    expect((await stage.git.findEntry(id, 'main', 'run'))?.kind).toBe('executable')
    expect(made.commit).toEqual(await stage.git.readCommit(id, 'main'))
    expect(made.parent).toBe(made.commit.parents[0] ?? '')
    for (const [path, sha] of made.blobs) expect((await stage.git.findEntry(id, 'main', path))?.sha).toBe(sha)
    expect(await stage.git.fsck(id, { isFull: true })).toEqual({ isSound: true, problems: [] })
  })

  test('is sorted as git sorts, a folder as if a slash ended its name', async () => {
    await commit(
      stage.git,
      id,
      ['sort/x', 'sort.b', 'sort-b', 'sort0', 'sort'.concat('/y')].map((path) => create(path)),
    )
    const { entries } = await stage.git.readTree(id, { revision: 'main' })
    const names = entries.map(({ name }) => name).filter((name) => name.startsWith('sort'))
    expect(names).toEqual(['sort-b', 'sort.b', 'sort', 'sort0'])
    expect(await must(['--git-dir', stage.folder(id), 'fsck', '--strict'])).toBe('')
  })

  test('loses folders with their last file', async () => {
    await commit(stage.git, id, [{ op: 'delete', path: 'docs/a/b.txt' }])
    expect(await stage.git.findEntry(id, 'main', 'docs')).toBeUndefined()
    expect(await must(['--git-dir', stage.folder(id), 'fsck', '--strict'])).toBe('')
  })
})

test('no half-written pack is ever one that git would open', async () => {
  await stage.git.createRepository(29, { objectFormat: 'sha1', defaultBranch: 'main', initialCommit })
  const seen = new Set<string>()
  const watcher = watch(join(stage.folder(29), 'objects', 'pack'), (_, name) => seen.add(name ?? ''))
  try {
    await commit(stage.git, 29, [create('one')])
    await until(() => [...seen].some((name) => /^pack-.*\.idx$/.test(name)), 'the index was seen')
    // Git takes every `*.idx` for a pack, and dies where the name has changed when it comes back.
    expect([...seen].filter((name) => !/^pack-[0-9a-f]+\.(?:pack|idx)$/.test(name))).toEqual([])
    expect((await readdir(join(stage.folder(29), 'objects'))).sort()).toEqual(['info', 'pack'])
  } finally {
    watcher.close()
    await stage.git.removeRepository(29)
  }
})

test('a name is taken once, and a removed repository is gone at once', async () => {
  await stage.git.createRepository(20, { objectFormat: 'sha1', defaultBranch: 'main', initialCommit })
  const again = stage.git.createRepository(20, { objectFormat: 'sha1', defaultBranch: 'main' })
  expect(await codeOf(again)).toBe('repository-exists')
  expect(await stage.git.exists(20)).toBe(true)
  expect((await stage.git.resolve(20, 'main')).type).toBe('commit')
  await stage.git.removeRepository(20)
  await stage.git.removeRepository(20)
  expect(await stage.git.exists(20)).toBe(false)
  for (const work of [
    stage.git.resolve(20, 'main'),
    stage.git.log(20, { revision: 'main', limit: 1 }),
    stage.git.listRefs(20),
  ]) {
    expect(await codeOf(work)).toBe('repository')
  }
  await stage.git.createRepository(20, { objectFormat: 'sha256', defaultBranch: 'main', initialCommit })
  expect((await stage.git.resolve(20, 'main')).sha).toHaveLength(64)
})

test('two who create the same repository: one does', async () => {
  const option = { objectFormat: 'sha1', defaultBranch: 'main', initialCommit } as const
  const codes = await Promise.all(Array.from({ length: 6 }, () => codeOf(stage.git.createRepository(21, option))))
  expect(codes.filter((code) => code === undefined)).toHaveLength(1)
  expect(new Set(codes)).toEqual(new Set([undefined, 'repository-exists' as const]))
  expect(await readdir(join(stage.root, '@creating'))).toEqual([])
})

test('all repositories are found in the store, and nothing that only looks like one', async () => {
  const ids: number[] = []
  for await (const id of stage.git.listStoredIds()) ids.push(id)
  expect(ids.sort((a, b) => a - b)).toEqual([1, 2, 20, 21])
})

describe('a commit of files is refused', () => {
  beforeAll(async () => {
    await stage.git.createRepository(3, { objectFormat: 'sha1', defaultBranch: 'main', initialCommit })
    const path = stage.work('links')
    await must(['clone', '-q', stage.folder(3), path])
    await must(
      ['-c', 'core.symlinks=true', 'update-index', '--add', '--cacheinfo', `120000,${await blob(path)},link`],
      path,
    )
    await must(['update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},module`], path)
    await must(['commit', '-q', '-m', 'links'], path)
    await must(['push', '-q', 'origin', 'HEAD'], path)
  })

  const blob = async (path: string) => {
    const child = Bun.spawn(['git', 'hash-object', '-w', '--stdin'], {
      cwd: path,
      stdin: Buffer.from('/etc'),
      stdout: 'pipe',
    })
    return (await new Response(child.stdout).text()).trim()
  }

  const cases: [string, TreeChange, GitErrorCode][] = [
    ['a path that exists', create('README.md'), 'path-exists'],
    ['a path that is a folder', create('src'), 'path-exists'],
    ['a path below a file', create('README.md/x'), 'path-parent-not-folder'],
    ['a path below a link', create('link/passwd'), 'path-parent-not-folder'],
    ['a path below a submodule', create('module/x'), 'path-parent-not-folder'],
    ['a write through a link', { op: 'update', path: 'link', content: 'x' }, 'path-not-file'],
    ['a write over a link', { op: 'put', path: 'link', content: 'x' }, 'path-not-file'],
    ['a write over a submodule', { op: 'put', path: 'module', content: 'x' }, 'path-not-file'],
    ['a write over a folder', { op: 'update', path: 'src', content: 'x' }, 'path-not-file'],
    ['an update of nothing', { op: 'update', path: 'nothing', content: 'x' }, 'path'],
    ['an update of another blob', { op: 'update', path: 'README.md', content: 'x', sha: '1'.repeat(40) }, 'blob-moved'],
    ['a deletion of nothing', { op: 'delete', path: 'nothing/at/all' }, 'path'],
    ['a deletion of a folder', { op: 'delete', path: 'src' }, 'path-not-file'],
    ['a deletion of another blob', { op: 'delete', path: 'README.md', sha: '1'.repeat(40) }, 'blob-moved'],
    ['a rename of nothing', { op: 'rename', fromPath: 'nothing', path: 'x' }, 'path'],
    ['a rename onto a file', { op: 'rename', fromPath: 'src/main.ts', path: 'README.md' }, 'path-exists'],
    ['a rename out of .git', { op: 'rename', fromPath: '.git/config', path: 'x' }, 'path-syntax'],
    ['the same content', { op: 'update', path: 'README.md', content: '# test\n' }, 'nothing-changed'],
    ['.git', create('.git/hooks/post-checkout'), 'path-syntax'],
    ['git~1', create('a/GIT~1/x'), 'path-syntax'],
    ['dots', create('../x'), 'path-syntax'],
    ['NUL', create('a\0b'), 'path-syntax'],
    [
      'a submodule whose address is an option',
      create('.gitmodules', '[submodule "a"]\n\tpath = a\n\turl = -u./x\n'),
      'content',
    ],
    ['a submodule outside', create('.gitmodules', '[submodule "../x"]\n\tpath = a\n\turl = ./x\n'), 'content'],
  ]

  test.each(cases)('with %s', async (_, change, code) => {
    const before = await stage.git.resolve(3, 'main')
    expect(await codeOf(commit(stage.git, 3, [change]))).toBe(code)
    expect(await stage.git.resolve(3, 'main')).toEqual(before)
  })

  test('and an honest .gitmodules is not', async () => {
    await commit(stage.git, 3, [create('.gitmodules', '[submodule "a"]\n\tpath = a\n\turl = https://example.com/a\n')])
    expect(await stage.git.fsck(3)).toEqual({ isSound: true, problems: [] })
    expect(await must(['--git-dir', stage.folder(3), 'fsck', '--full'])).not.toContain('gitmodules')
  })
})

describe('branches', () => {
  const base = { author: ann, committer: ann, message: 'change' }

  beforeAll(async () => {
    await stage.git.createRepository(4, { objectFormat: 'sha1', defaultBranch: 'main', initialCommit })
  })

  test('a commit can go to a new branch, once', async () => {
    const option = { ...base, branch: 'main', newBranch: 'topic/one', changes: [create('topic')] }
    const made = await stage.git.commitFiles(4, option)
    expect(made.ref).toBe('refs/heads/topic/one')
    expect(await pathsOf(4)).not.toContain('topic')
    expect(await pathsOf(4, 'topic/one')).toContain('topic')
    expect(await codeOf(stage.git.commitFiles(4, option))).toBe('branch-exists')
    expect(await codeOf(stage.git.commitFiles(4, { ...option, newBranch: 'topic' }))).toBe('ref-name-conflict')
    expect(await codeOf(stage.git.commitFiles(4, { ...option, newBranch: '-x' }))).toBe('ref-name')
    expect(await codeOf(stage.git.commitFiles(4, { ...option, branch: 'gone' }))).toBe('branch-missing')
    expect(await codeOf(stage.git.commitFiles(4, { ...option, expectedHead: '1'.repeat(40) }))).toBe('head-moved')
  })

  test('the first commit of an empty repository makes its branch', async () => {
    await stage.git.createRepository(5, { objectFormat: 'sha256', defaultBranch: 'main' })
    const option = { ...base, branch: 'trunk', changes: [create('a')], message: 'first\r\n\n', signoff: true }
    const made = await stage.git.commitFiles(5, option)
    expect(made.parent).toBeUndefined()
    expect(made.commit.message).toBe('first\n\nSigned-off-by: Ann <ann@example.com>\n')
    expect((await stage.git.findBranch(5, 'trunk'))?.sha).toBe(made.commit.sha)
  })

  test('of writers at the same time one wins, and the others are told; nothing is lost', async () => {
    const before = await stage.git.countCommits(4, { revision: 'main' })
    const codes = await Promise.all(
      Array.from({ length: 12 }, (_, number) => codeOf(commit(stage.git, 4, [create(`race-${number}`)]))),
    )
    const won = codes.filter((code) => code === undefined).length
    expect(won).toBeGreaterThan(0)
    expect(codes.every((code) => code === undefined || code === 'head-moved')).toBe(true)
    expect(await stage.git.countCommits(4, { revision: 'main' })).toBe(before + won)
    const files = (await pathsOf(4)).filter((path) => path.startsWith('race-'))
    expect(files.sort()).toEqual(codes.flatMap((code, number) => (code === undefined ? [`race-${number}`] : [])).sort())
    expect(await stage.git.fsck(4, { isFull: true })).toEqual({ isSound: true, problems: [] })
  })

  test('a name and a message cannot break the object', async () => {
    const evil = { ...ann, name: '<x>\nparent 0', email: 'a>\0b' }
    const made = await stage.git.commitFiles(4, {
      ...base,
      author: evil,
      branch: 'main',
      message: 'a\0b',
      changes: [create('evil')],
    })
    expect(made.commit.parents).toHaveLength(1)
    expect(made.commit.author).toMatchObject({ name: 'xparent 0', email: 'ab' })
    expect(await must(['--git-dir', stage.folder(4), 'fsck', '--strict', '--no-dangling'])).toBe('')
  })
})

test('tags are light or annotated, and made once', async () => {
  await stage.git.createRepository(6, { objectFormat: 'sha1', defaultBranch: 'main', initialCommit })
  const head = await stage.git.resolve(6, 'main')
  expect(await stage.git.createTag(6, { name: 'light', target: 'main' })).toEqual({ sha: head.sha })
  const { sha } = await stage.git.createTag(6, { name: 'v1', target: 'main', message: 'One', tagger: ann })
  expect(await stage.git.readTag(6, sha)).toEqual({
    sha,
    name: 'v1',
    target: { sha: head.sha, type: 'commit' },
    tagger: { ...ann, offsetMinutes: 0 },
    message: 'One\n',
  })
  expect((await stage.git.readCommit(6, 'v1')).sha).toBe(head.sha)
  expect((await stage.git.listRefs(6, { prefix: 'refs/tags/v1' }))[0]?.peeled).toEqual({
    sha: head.sha,
    type: 'commit',
  })
  expect(await codeOf(stage.git.createTag(6, { name: 'v1', target: 'main' }))).toBe('ref-moved')
  expect(await codeOf(stage.git.createTag(6, { name: '-v', target: 'main' }))).toBe('ref-name')
  expect(await must(['--git-dir', stage.folder(6), 'fsck', '--strict'])).toBe('')
})
