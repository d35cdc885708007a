import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { encodePushRefusal, readPushHead } from '../../src/git/push.ts'
import { commit, initialCommit, must, openServer, openStage, run, type Stage } from './stage.ts'

let stage: Stage
let server: ReturnType<typeof openServer>

beforeAll(async () => {
  stage = await openStage()
  server = openServer(stage)
})

afterAll(async () => {
  await server.close()
  await stage.close()
})

describe.each(['sha1', 'sha256'] as const)('smart HTTP in %s', (objectFormat) => {
  const id = objectFormat === 'sha1' ? 1 : 2
  const clone = () => stage.work(`clone-${objectFormat}`)

  beforeAll(async () => {
    await stage.git.createRepository(id, { objectFormat, defaultBranch: 'main', initialCommit })
    for (let number = 0; number < 5; number++) {
      await commit(stage.git, id, [{ op: 'put', path: 'counter', content: `${number}\n` }])
    }
  })

  test.each(['0', '1', '2'])('clones with protocol %s', async (version) => {
    const path = stage.work(`protocol-${objectFormat}-${version}`)
    await must(['-c', `protocol.version=${version}`, 'clone', '-q', server.url(id), path])
    expect(await must(['log', '--oneline'], path).then((text) => text.split('\n').length)).toBe(6)
    expect(await must(['rev-parse', '--abbrev-ref', 'HEAD'], path)).toBe('main')
  })

  test('clones a part of the history, and without blobs', async () => {
    const shallow = stage.work(`shallow-${objectFormat}`)
    await must(['clone', '-q', '--depth=1', server.url(id), shallow])
    expect(await must(['rev-list', '--count', 'HEAD'], shallow)).toBe('1')
    await must(['fetch', '-q', '--unshallow'], shallow)
    expect(await must(['rev-list', '--count', 'HEAD'], shallow)).toBe('6')
    const partial = stage.work(`partial-${objectFormat}`)
    await must(['clone', '-q', '--filter=blob:none', '--no-checkout', server.url(id), partial])
    expect(await must(['rev-list', '--objects', '--missing=print', 'HEAD'], partial)).toContain('\n?')
    expect(await must(['show', 'HEAD~2:counter'], partial)).toBe('2')
  })

  test('takes a push as one flushed pack, whatever its size', async () => {
    await must(['clone', '-q', server.url(id), clone()])
    await writeFile(join(clone(), 'pushed'), 'pushed\n')
    await must(['add', '.'], clone())
    await must(['commit', '-q', '-m', 'pushed'], clone())
    await must(['push', '-q', 'origin', 'HEAD:refs/heads/topic', 'HEAD:main'], clone())
    const head = await must(['rev-parse', 'HEAD'], clone())
    expect((await stage.git.listRefs(id)).map(({ name, sha }) => [name, sha])).toEqual([
      ['refs/heads/main', head],
      ['refs/heads/topic', head],
    ])
    const size = await stage.git.sizeOnDisk(id)
    expect([size.looseObjects, size.packs]).toEqual([0, 7])
    expect((await stage.git.readBlob(id, (await stage.git.findEntry(id, 'topic', 'pushed'))?.sha ?? '')).size).toBe(7)
    expect(await stage.git.fsck(id, { isFull: true })).toEqual({ isSound: true, problems: [] })
  })

  test('deletes a branch but not the one HEAD names', async () => {
    await must(['push', '-q', 'origin', ':topic'], clone())
    const refused = await run(['push', '-q', 'origin', ':main'], clone())
    expect(refused.stderr).toContain('deletion of the current branch prohibited')
    expect((await stage.git.listRefs(id)).map(({ name }) => name)).toEqual(['refs/heads/main'])
  })

  test.each(['refs/pull/1/head', 'refs/hidden/x'])('does not let a push touch %s', async (ref) => {
    const { exitCode, stderr } = await run(['push', '-q', 'origin', `HEAD:${ref}`], clone())
    expect(exitCode).not.toBe(0)
    expect(stderr).toContain('hidden ref')
    expect(await stage.git.find(id, ref)).toBeUndefined()
  })
})

test('clones and pushes to an empty repository', async () => {
  await stage.git.createRepository(10, { objectFormat: 'sha1', defaultBranch: 'trunk' })
  const path = stage.work('empty')
  await must(['clone', '-q', server.url(10), path])
  expect(await must(['symbolic-ref', 'HEAD'], path)).toBe('refs/heads/trunk')
  await must(['commit', '-q', '--allow-empty', '-m', 'first'], path)
  await must(['push', '-q', 'origin', 'trunk'], path)
  expect((await stage.git.findBranch(10, 'trunk'))?.message).toBe('first\n')
})

test('refuses a tree that would write into .git of a clone', async () => {
  const path = stage.work('dotgit')
  await must(['init', '-q', path])
  const blob = await must(['hash-object', '-w', '--stdin'], path)
  await writeFile(join(path, 'tree'), `100644 blob ${blob}\tGIT~1\n`)
  const child = Bun.spawn(['git', 'mktree'], { cwd: path, stdin: Bun.file(join(path, 'tree')), stdout: 'pipe' })
  const tree = (await new Response(child.stdout).text()).trim()
  const sha = await must(['commit-tree', tree, '-m', 'evil'], path)
  await stage.git.createRepository(11, { objectFormat: 'sha1', defaultBranch: 'main' })
  const { exitCode, stderr } = await run(['push', '-q', server.url(11), `${sha}:refs/heads/main`], path)
  expect([exitCode === 0, stderr.includes('hasDotgit')]).toEqual([false, true])
  expect(await stage.git.listRefs(11)).toEqual([])
})

test('refuses a push larger than its limit, and leaves no quarantine behind', async () => {
  const small = openServer(stage, { maxInputBytes: 100_000 })
  const path = await cloneWith('large', 1_000_000)
  await stage.git.createRepository(12, { objectFormat: 'sha1', defaultBranch: 'main' })
  const { exitCode, stderr } = await run(['push', '-q', small.url(12), 'HEAD:main'], path)
  expect(exitCode).not.toBe(0)
  expect(stderr).toMatch(/maximum allowed size|unpack/)
  expect(await stage.git.listRefs(12)).toEqual([])
  expect((await readdir(join(stage.folder(12), 'objects'))).sort()).toEqual(['info', 'pack'])
  await small.close()
})

test('streams a push and a clone of 50 MB in flat memory', async () => {
  const path = await cloneWith('heavy', 50_000_000)
  await stage.git.createRepository(13, { objectFormat: 'sha1', defaultBranch: 'main' })
  Bun.gc(true)
  const before = process.memoryUsage.rss()
  let peak = before
  // Collected before each look, so that what counts is what is held and not what lies about.
  const watch = setInterval(() => {
    Bun.gc(true)
    peak = Math.max(peak, process.memoryUsage.rss())
  }, 250)
  await must(['push', '-q', server.url(13), 'HEAD:main'], path)
  await must(['clone', '-q', server.url(13), stage.work('heavy-clone')])
  clearInterval(watch)
  expect(await must(['rev-parse', 'HEAD'], stage.work('heavy-clone'))).toBe(await must(['rev-parse', 'HEAD'], path))
  expect((peak - before) / 1e6).toBeLessThan(30)
})

test('prints our reason beside each ref of a push that is refused before git starts', async () => {
  const strict = openServer(stage, {
    async judge(body) {
      const head = await readPushHead(body)
      const isRefused = head.commands.some(({ ref }) => ref.endsWith('/protected'))
      return isRefused ? encodePushRefusal(head, ({ ref }) => `${ref} is protected`, 'Ask an owner.') : head.body
    },
  })
  const path = await cloneWith('judged', 10)
  await stage.git.createRepository(14, { objectFormat: 'sha1', defaultBranch: 'main' })
  const { exitCode, stderr } = await run(['push', strict.url(14), 'HEAD:refs/heads/protected', 'HEAD:main'], path)
  expect(exitCode).not.toBe(0)
  expect(stderr).toContain('remote: Ask an owner.')
  expect(stderr).toContain('(refs/heads/protected is protected)')
  expect(await stage.git.listRefs(14)).toEqual([])
  await must(['push', '-q', '-o', 'topic=x', strict.url(14), 'HEAD:main'], path)
  expect(await stage.git.listRefs(14)).toHaveLength(1)
  await strict.close()
})

test('ignores a protocol that is none', async () => {
  const { stream } = await stage.git.advertise(1, 'upload-pack', { protocol: 'version=2\nX=1' })
  expect(await new Response(stream).text()).toStartWith('001e# service=git-upload-pack\n0000')
  const second = await stage.git.advertise(1, 'upload-pack', { protocol: 'version=2' })
  expect(await new Response(second.stream).text()).toStartWith('000eversion 2\n')
})

/** A repository with one commit of one random file. */
async function cloneWith(name: string, bytes: number): Promise<string> {
  const path = stage.work(name)
  await must(['init', '-q', '-b', 'main', path])
  await writeFile(join(path, 'file'), randomBytes(bytes))
  await must(['add', '.'], path)
  await must(['commit', '-q', '-m', 'file'], path)
  return path
}
