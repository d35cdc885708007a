import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf, commit, initialCommit, must, openStage, type Stage } from './stage.ts'

let stage: Stage
let work: string

/** A history with a merge, a rename, a tag, a link, a binary file and names that need care. */
beforeAll(async () => {
  stage = await openStage()
  await stage.git.createRepository(1, { objectFormat: 'sha1', defaultBranch: 'main' })
  work = stage.work('work')
  await must(['init', '-q', '-b', 'main', work])
  await save('first', {
    'a.txt': 'one\ntwo\nthree\nfour\n',
    'dir/b.txt': 'b\n',
    'dir/deep/c': 'c\n',
    'bin.dat': 'a\0b',
  })
  await save('second', { 'a.txt': 'one\ntwo\n3\nfour\n', '-rf': 'x', 'with space': 's', 'new\nline/x': 'nl' })
  await must(['checkout', '-q', '-b', 'side'], work)
  await save('side', { 'dir/side': 'side\n' })
  await must(['checkout', '-q', 'main'], work)
  await must(['mv', 'a.txt', 'renamed.txt'], work)
  await save('third', {})
  await must(['merge', '-q', '--no-ff', '-m', 'merge', 'side'], work)
  await must(['tag', '-a', 'v1', '-m', 'One'], work)
  await must(['tag', 'main', 'HEAD~1'], work)
  await must(['push', '-q', stage.folder(1), 'refs/heads/*', '--tags'], work)
})

afterAll(() => stage.close())

let clock = 1_700_000_000

async function save(message: string, files: Record<string, string>): Promise<void> {
  for (const [path, content] of Object.entries(files)) await Bun.write(join(work, path), content)
  await must(['add', '-A', '.'], work)
  clock += 100
  const date = `${clock} +0200`
  await must(['commit', '-q', '-m', message], work, { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date })
}

const subjects = async (query: Partial<Parameters<Stage['git']['log']>[1]>) =>
  (await stage.git.log(1, { revision: 'refs/heads/main', limit: 100, ...query })).map((one) => one.message.trim())

describe('names', () => {
  test('a branch wins over a tag, and neither over a file in the folder of the repository', async () => {
    expect((await stage.git.readCommit(1, 'main')).message).toBe('merge\n')
    expect((await stage.git.readCommit(1, 'refs/tags/main')).message).toBe('third\n')
    await writeFile(join(stage.folder(1), 'ORIG'), `${await must(['rev-parse', 'HEAD'], work)}\n`)
    expect(await stage.git.find(1, 'ORIG')).toBeUndefined()
  })

  test('an id may be shortened, a tag is followed', async () => {
    const sha = await must(['rev-parse', 'HEAD'], work)
    expect(await stage.git.resolve(1, sha.slice(0, 8))).toMatchObject({ sha, type: 'commit' })
    expect((await stage.git.resolve(1, 'v1')).type).toBe('tag')
    expect((await stage.git.readCommit(1, 'v1')).sha).toBe(sha)
    expect((await stage.git.readCommit(1, 'HEAD^2')).message).toBe('side\n')
  })

  test.each([
    ['gone', 'revision'],
    ['f'.repeat(40), 'revision'],
    ['-x', 'revision-syntax'],
    ['--output=/tmp/x', 'revision-syntax'],
    ['main:dir', 'revision-syntax'],
    ['HEAD^{tree}', 'revision'],
  ])('%j is refused as %s wherever a commit is asked for', async (revision, code) => {
    const { git } = stage
    for (const ask of [
      () => git.readCommit(1, revision),
      () => git.log(1, { revision, limit: 1 }),
      () => git.log(1, { revision: 'main', not: [revision], limit: 1 }),
      () => git.countCommits(1, { revision }),
      () => git.mergeBase(1, 'main', revision),
      () => git.isAncestor(1, revision, 'main'),
      () => git.changes(1, { head: revision }),
      () => git.diff(1, { base: revision, head: 'main' }),
      () => git.archive(1, { revision, format: 'zip' }),
      () => git.lastCommits(1, { revision, folder: '', names: ['a'] }),
    ]) {
      expect<string | undefined>(await codeOf(ask())).toBe(code)
    }
  })
})

describe('the log', () => {
  test('walks, skips, cuts and excludes', async () => {
    expect(await subjects({})).toEqual(['merge', 'third', 'side', 'second', 'first'])
    expect(await subjects({ skip: 1, limit: 2 })).toEqual(['third', 'side'])
    expect(await subjects({ firstParent: true })).toEqual(['merge', 'third', 'second', 'first'])
    expect(await subjects({ not: ['side'] })).toEqual(['merge', 'third'])
    expect(await subjects({ path: 'dir' })).toEqual(['side', 'first'])
    expect(await subjects({ path: '-rf' })).toEqual(['second'])
    expect(await subjects({ path: ':(glob)**' })).toEqual([])
    expect(await subjects({ until: new Date(1_700_000_250_000) })).toEqual(['second', 'first'])
    expect(await subjects({ since: new Date(1_700_000_250_000) })).toEqual(['merge', 'third', 'side'])
    expect(await stage.git.countCommits(1, { revision: 'main', path: 'dir' })).toBe(2)
  })

  test('tells what each commit did to its first parent', async () => {
    const log = await stage.git.log(1, { revision: 'refs/heads/main', limit: 10, withChanges: true })
    const told = log.map(({ changes }) => changes?.files.map((file) => `${file.status} ${file.path}`))
    expect(told).toEqual([
      ['added dir/side'],
      ['renamed renamed.txt'],
      ['added dir/side'],
      ['added -rf', 'modified a.txt', 'added new\nline/x', 'added with space'],
      ['added a.txt', 'added bin.dat', 'added dir/b.txt', 'added dir/deep/c'],
    ])
    expect(log.map(({ changes }) => [changes?.additions, changes?.deletions])).toEqual([
      [1, 0],
      [0, 0],
      [1, 0],
      [4, 1],
      [6, 0],
    ])
    expect(log[1]?.changes?.files[0]?.previousPath).toBe('a.txt')
    expect(log[4]?.changes?.files[1]?.isBinary).toBe(true)
    expect(log[3]?.author).toEqual({
      name: 'Ann',
      email: 'ann@example.com',
      date: new Date(1_700_000_200_000),
      offsetMinutes: 120,
    })
  })

  test('knows where two lines met', async () => {
    const base = await must(['merge-base', 'main~1', 'side'], work)
    expect(await stage.git.mergeBase(1, 'refs/heads/main~1', 'side')).toBe(base)
    expect(await stage.git.isAncestor(1, 'side', 'refs/heads/main')).toBe(true)
    expect(await stage.git.isAncestor(1, 'refs/heads/main', 'side')).toBe(false)
    expect(await stage.git.aheadBehind(1, 'side', 'refs/heads/main')).toEqual({ ahead: 0, behind: 2 })
  })
})

describe('trees and blobs', () => {
  test('a folder gives its entries, with sizes when asked', async () => {
    const { entries } = await stage.git.readTree(1, { revision: 'main', withSizes: true })
    expect(entries.map(({ name, kind, size }) => [name, kind, size])).toEqual([
      ['-rf', 'file', 1],
      ['bin.dat', 'file', 3],
      ['dir', 'folder', undefined],
      ['new\nline', 'folder', undefined],
      ['renamed.txt', 'file', 15],
      ['with space', 'file', 1],
    ])
    const inner = await stage.git.readTree(1, { revision: 'main', path: 'new\nline' })
    expect(inner.entries[0]?.path).toBe('new\nline/x')
    expect((await stage.git.findEntry(1, 'main', 'new\nline/x'))?.kind).toBe('file')
  })

  test('all levels at once, up to a limit', async () => {
    const all = await stage.git.readTree(1, { revision: 'main', path: 'dir', isRecursive: true, withSizes: true })
    expect(all.entries.map(({ path, size }) => [path, size])).toEqual([
      ['dir/b.txt', 2],
      ['dir/deep', undefined],
      ['dir/deep/c', 2],
      ['dir/side', 5],
    ])
    const some = await stage.git.readTree(1, { revision: 'main', isRecursive: true, limit: 2 })
    expect([some.entries.length, some.isTruncated]).toEqual([2, true])
  })

  test.each(['gone', 'dir/gone', 'bin.dat/x', 'dir/', '/dir', '../x', 'dir/../dir', '.', 'a\0b'])(
    '%j leads nowhere',
    async (path) => {
      expect(await stage.git.findEntry(1, 'main', path)).toBeUndefined()
      expect(await codeOf(stage.git.readTree(1, { revision: 'main', path }))).toBe('path')
    },
  )

  test('a blob is read whole, as a stream, or not at all', async () => {
    const sha = (await stage.git.findEntry(1, 'main', 'bin.dat'))?.sha ?? ''
    expect(Buffer.from((await stage.git.readBlob(1, sha)).bytes).toString()).toBe('a\0b')
    const open = await stage.git.openBlob(1, sha)
    expect([open.size, await new Response(await open.read()).text()]).toEqual([3, 'a\0b'])
    expect(await codeOf(stage.git.readBlob(1, sha, { maxBytes: 2 }))).toBe('limit')
    expect(await codeOf(stage.git.readBlob(1, 'main'))).toBe('object-type')
    expect([...(await stage.git.sizes(1, [sha, 'f'.repeat(40)])).keys()]).toEqual([sha])
  })

  test('a blob of 20 MB is streamed by a process of its own', async () => {
    const content = Buffer.alloc(20_000_000, 'abc')
    const made = await commit(stage.git, 1, [{ op: 'create', path: 'big', content }], 'side')
    const open = await stage.git.openBlob(1, made.blobs.get('big') ?? '')
    expect(Buffer.from(await new Response(await open.read()).arrayBuffer()).equals(content)).toBe(true)
    const half = await stage.git.openBlob(1, made.blobs.get('big') ?? '')
    await (await half.read()).cancel()
    const part = await half.read({ start: 2_999_999, end: 3_000_002 })
    expect(await new Response(part).text()).toBe('cab')
  })

  test('each name of a folder has the commit that touched it last', async () => {
    const names = (await stage.git.readTree(1, { revision: 'main' })).entries.map(({ name }) => name)
    const last = await stage.git.lastCommits(1, { revision: 'main', folder: '', names })
    const commits = await stage.git.readCommits(1, [...last.values()])
    const told = Object.fromEntries([...last].map(([name, sha]) => [name, commits.get(sha)?.message.trim()]))
    expect(told).toEqual({
      '-rf': 'second',
      'bin.dat': 'first',
      dir: 'side',
      'new\nline': 'second',
      'renamed.txt': 'third',
      'with space': 'second',
    })
    const inner = await stage.git.lastCommits(1, { revision: 'main', folder: 'dir', names: ['b.txt', 'deep', 'gone'] })
    expect([...inner.keys()].sort()).toEqual(['b.txt', 'deep'])
    const one = await stage.git.lastCommits(1, { revision: 'main', folder: 'dir', names: ['side'] })
    expect(one.get('side')).toBe(last.get('dir') ?? '')
  })
})

test('a file that only a merge changed has the merge as its last commit', async () => {
  await stage.git.createRepository(3, { objectFormat: 'sha1', defaultBranch: 'main' })
  const path = stage.work('evil')
  await must(['clone', '-q', work, path])
  await must(['checkout', '-q', '-b', 'left', 'HEAD~2'], path)
  await Bun.write(join(path, 'left'), 'left')
  await must(['add', '.'], path)
  await must(['commit', '-q', '-m', 'left'], path)
  await must(['merge', '-q', '--no-commit', 'origin/side'], path)
  await Bun.write(join(path, 'a.txt'), 'in the merge')
  await must(['commit', '-q', '-a', '-m', 'evil'], path)
  await must(['push', '-q', stage.folder(3), 'left:main'], path)
  const head = await stage.git.resolve(3, 'main')
  const last = await stage.git.lastCommits(3, { revision: 'main', folder: '', names: ['a.txt', 'left'] })
  expect(last.get('a.txt')).toBe(head.sha)
  expect(last.get('left')).not.toBe(head.sha)
})

describe('differences', () => {
  test('of a commit, of a range, of a pull request', async () => {
    const text = async (query: Parameters<Stage['git']['diff']>[1]) =>
      new Response(await stage.git.diff(1, query)).text()
    expect(await text({ head: 'v1~1' })).toContain('rename to renamed.txt')
    expect(await text({ head: 'v1~3' })).toContain('Binary files /dev/null and b/bin.dat differ')
    expect(await text({ head: 'v1~3', withBinary: true })).toContain('GIT binary patch')
    expect((await text({ base: 'v1~2', head: 'v1', format: 'patch' })).match(/^Subject: /gm)).toHaveLength(2)
    expect(await text({ head: 'v1~3', format: 'patch' })).toContain('Subject: [PATCH] first')
    const request = await stage.git.changes(1, { base: 'v1~1', head: 'v1^2', fromMergeBase: true })
    expect(request.files.map(({ path }) => path)).toEqual(['dir/side'])
    const range = await stage.git.changes(1, { base: 'v1~3', head: 'v1', limit: 2 })
    expect([range.files.length, range.isTruncated]).toEqual([2, true])
  })

  test('an archive unpacks to the commit, below its prefix', async () => {
    for (const format of ['tar.gz', 'zip'] as const) {
      const { read } = await stage.git.archive(1, { revision: 'main', format, prefix: 'repo' })
      const file = stage.work(`archive.${format}`)
      await Bun.write(file, new Response(await read()))
      if (format === 'zip') expect((await Bun.file(file).bytes()).subarray(0, 2)).toEqual(new Uint8Array([0x50, 0x4b]))
      else {
        const child = Bun.spawn(['tar', '-tzf', file], { stdout: 'pipe' })
        expect(await new Response(child.stdout).text()).toContain('repo/dir/deep/c\n')
      }
    }
    const { git } = stage
    expect(await codeOf(git.archive(1, { revision: 'main', format: 'zip', paths: ['gone'] }))).toBe('path')
    expect(await codeOf(git.archive(1, { revision: 'main', format: 'zip', prefix: '../x' }))).toBe('path-syntax')
  })
})

describe('refs', () => {
  const at = async (revision: string) => (await stage.git.resolve(1, revision)).sha

  test('are listed in pages and by date', async () => {
    expect((await stage.git.listRefs(1, { prefix: 'refs/heads/' })).map(({ name }) => name)).toEqual([
      'refs/heads/main',
      'refs/heads/side',
    ])
    expect((await stage.git.listRefs(1, { offset: 1, limit: 1 })).map(({ name }) => name)).toEqual(['refs/heads/side'])
    expect(await codeOf(stage.git.listRefs(1, { prefix: '--exec=x' }))).toBe('ref-name')
    expect(await codeOf(stage.git.listRefs(1, { prefix: 'refs/heads/*' }))).toBe('ref-name')
  })

  test('move together or not at all', async () => {
    const [main, side] = [await at('refs/heads/main'), await at('side')]
    const move = { ref: 'refs/heads/one', old: null, new: main }
    const stale = { ref: 'refs/heads/side', old: main, new: main }
    expect(await codeOf(stage.git.updateRefs(1, [move, stale]))).toBe('ref-moved')
    expect(await stage.git.find(1, 'refs/heads/one')).toBeUndefined()
    await stage.git.updateRefs(1, [move, { ref: 'refs/heads/two', new: side }])
    expect(await codeOf(stage.git.updateRefs(1, [move]))).toBe('ref-moved')
    expect(await codeOf(stage.git.updateRefs(1, [{ ref: 'refs/heads/one/x', old: null, new: main }]))).toBe(
      'ref-name-conflict',
    )
    expect(await codeOf(stage.git.updateRefs(1, [{ ref: 'refs/heads/gone', old: main, new: null }]))).toBe('ref-moved')
    await stage.git.updateRefs(1, [
      { ref: 'refs/heads/one', old: main, new: null },
      { ref: 'refs/heads/two', new: null },
    ])
    expect(await stage.git.listRefs(1, { prefix: 'refs/heads/' })).toHaveLength(2)
  })

  test.each([
    ['refs/heads/x y', 'main', 'ref-name'],
    ['HEAD', 'main', 'ref-name'],
    ['refs/heads/../../config', 'main', 'ref-name'],
    ['refs/heads/x\nrefs/heads/y', 'main', 'ref-name'],
    ['refs/heads/x', 'f'.repeat(40), 'object'],
    ['refs/heads/x', '--stdin', 'object'],
    ['refs/heads/x', 'f'.repeat(64), 'object'],
  ])('%j at %j is refused', async (ref, target, code) => {
    const sha = target === 'main' ? await at('main') : target
    expect<string | undefined>(await codeOf(stage.git.updateRefs(1, [{ ref, new: sha }]))).toBe(code)
  })

  test('a branch holds commits only', async () => {
    const tree = (await stage.git.readCommit(1, 'main')).tree
    expect(await codeOf(stage.git.updateRefs(1, [{ ref: 'refs/heads/x', new: tree }]))).toBe('object-type')
  })

  test('HEAD names a branch, there or not', async () => {
    await stage.git.setHead(1, 'later')
    expect(await stage.git.getHead(1)).toBe('refs/heads/later')
    expect(await must(['--git-dir', stage.folder(1), 'symbolic-ref', 'HEAD'])).toBe('refs/heads/later')
    expect(await codeOf(stage.git.setHead(1, '../../x'))).toBe('ref-name')
    // Git holds it during a push to that branch, and a killed git for ever; HEAD itself stays as it is under it.
    await writeFile(join(stage.folder(1), 'HEAD.lock'), '')
    await stage.git.setHead(1, 'main')
    expect(await stage.git.getHead(1)).toBe('refs/heads/main')
    await rm(join(stage.folder(1), 'HEAD.lock'))
    expect((await readdir(stage.folder(1))).filter((name) => name.endsWith('.lock'))).toEqual([])
  })
})

test('maintenance rolls packs together and loses nothing', async () => {
  await stage.git.createRepository(2, { objectFormat: 'sha256', defaultBranch: 'main' })
  for (let number = 0; number < 8; number++)
    await commit(stage.git, 2, [{ op: 'put', path: 'a', content: `${number}` }])
  const log = await stage.git.log(2, { revision: 'main', limit: 10 })
  expect((await stage.git.sizeOnDisk(2)).packs).toBe(8)
  await stage.git.maintain(2)
  expect((await stage.git.sizeOnDisk(2)).packs).toBeLessThan(3)
  await stage.git.maintain(2, { isFull: true })
  expect(await stage.git.log(2, { revision: 'main', limit: 10 })).toEqual(log)
  await commit(stage.git, 2, [{ op: 'put', path: 'a', content: 'after' }])
  expect(await stage.git.fsck(2, { isFull: true })).toEqual({ isSound: true, problems: [] })
})

test('after pushes a bitmap and the graph of commits are made anew, where enough has come', async () => {
  await stage.git.createRepository(33, { objectFormat: 'sha1', defaultBranch: 'main', initialCommit })
  const made = async () => {
    const objects = join(stage.folder(33), 'objects')
    const names = [...(await readdir(join(objects, 'pack'))), ...(await readdir(join(objects, 'info')))]
    return names.filter((name) => name.endsWith('.bitmap') || name.startsWith('commit-graph'))
  }
  await stage.git.maintainIfNeeded(33)
  const first = await made()
  expect(first.map((name) => name.replace(/-[0-9a-f]{40}/, ''))).toEqual(['multi-pack-index.bitmap', 'commit-graphs'])
  await stage.git.maintainIfNeeded(33)
  expect(await made()).toEqual(first)
  await commit(stage.git, 33, [{ op: 'put', path: 'much', content: randomBytes(10_000) }])
  await stage.git.maintainIfNeeded(33)
  expect(await made()).not.toEqual(first)
  await commit(stage.git, 33, [{ op: 'put', path: 'little', content: 'x' }])
  const second = await made()
  await stage.git.maintainIfNeeded(33)
  expect(await made()).toEqual(second)
  for (let number = 0; number < 20; number++)
    await commit(stage.git, 33, [{ op: 'put', path: 'a', content: `${number}` }])
  await stage.git.maintainIfNeeded(33)
  expect((await stage.git.sizeOnDisk(33)).packs).toBeLessThan(5)
  expect(await stage.git.fsck(33, { isFull: true })).toEqual({ isSound: true, problems: [] })
})

test('maintenance that is asked for twice at once does one after the other', async () => {
  await stage.git.createRepository(34, { objectFormat: 'sha1', defaultBranch: 'main', initialCommit })
  for (let number = 0; number < 5; number++)
    await commit(stage.git, 34, [{ op: 'put', path: 'a', content: `${number}` }])
  const asked = Array.from({ length: 8 }, () => codeOf(stage.git.maintain(34)))
  expect(await Promise.all(asked)).toEqual(asked.map(() => undefined))
})

test('a commit that is no UTF-8, or signed, is read', async () => {
  const tree = await must(['rev-parse', 'HEAD^{tree}'], work)
  const latin = `tree ${tree}\nauthor J\xfcrgen <j@x> 1700000000 -0130\ncommitter J <j@x> 1700000000 -0130\nencoding ISO-8859-1\n\nGr\xfc\xdfe\n`
  const signed = `tree ${tree}\nauthor ${'A <a@x> 1 +0000'}\ncommitter A <a@x> 1 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----\n\nsigned\n`
  const shas: string[] = []
  for (const content of [latin, signed]) {
    const child = Bun.spawn(['git', 'hash-object', '-t', 'commit', '-w', '--stdin'], {
      cwd: stage.folder(1),
      stdin: Buffer.from(content, 'latin1'),
      stdout: 'pipe',
    })
    shas.push((await new Response(child.stdout).text()).trim())
  }
  const commits = await stage.git.readCommits(1, shas)
  expect(commits.get(shas[0] ?? '')).toMatchObject({
    message: 'Grüße\n',
    author: { name: 'Jürgen', offsetMinutes: -90 },
  })
  const { signature, message } = commits.get(shas[1] ?? '') ?? {}
  expect(message).toBe('signed\n')
  expect(signature?.text).toBe('-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----')
  expect(signature?.payload).toBe(`tree ${tree}\nauthor A <a@x> 1 +0000\ncommitter A <a@x> 1 +0000\n\nsigned\n`)
})
