import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DELIMITER, encodePacket, FLUSH } from '../../src/git/packet.ts'
import { until } from '../harness/until.ts'
import {
  ask,
  type CachedStage,
  clone,
  createWithData,
  encodeRequest,
  listing,
  MIB,
  openCachedStage,
  send,
  wanting,
  wantingFirst,
} from './cached-stage.ts'
import { codeOf, commit, initialCommit, must } from './stage.ts'

const HOUR_MS = 3_600_000

let stage: CachedStage
let id = 0
let head = ''

beforeAll(async () => {
  stage = await openCachedStage()
})
afterAll(() => stage.close())

/** A fresh repository in `id`, its commit in `head`. */
async function fresh(option?: Parameters<typeof createWithData>[2]): Promise<void> {
  id += 1
  head = await createWithData(stage, id, option)
}

/** Answers of git alone from now on would be counted. */
async function withoutGit<Result>(work: () => Promise<Result>): Promise<Result> {
  const before = await stage.started()
  const result = await work()
  expect(await stage.started()).toBe(before)
  return result
}

/** Until the pack of a commit is cached. */
async function cachePack(sha = head, version = '2'): Promise<string[]> {
  await ask(stage, id, version === '2' ? wanting(sha) : wantingFirst(sha), version)
  return stage.cached(id)
}

describe.each(['sha1', 'sha256'] as const)('of a repository in %s', (objectFormat) => {
  test.each([
    ['by version 0', [], '0'],
    ['by version 1', [], '1'],
    ['by version 2', [], '2'],
    ['without its history', ['--depth=1'], '2'],
    ['without its files', ['--filter=blob:none', '--no-checkout'], '2'],
    ['for one branch', ['--single-branch', '--no-tags'], '2'],
    ['as a mirror', ['--mirror'], '2'],
  ])('the second clone %s is the same, and needs no git', async (_, option, version) => {
    await fresh({ objectFormat })
    await stage.git.createTag(id, { name: 'v1', target: 'main~1', message: 'one', tagger: initialCommit.author })
    const first = await clone(stage, id, option, version)
    expect(await stage.cached(id)).toHaveLength(1)
    const second = await withoutGit(() => clone(stage, id, option, version))
    for (const question of [
      ['show-ref', '--head', '--dereference'],
      ['symbolic-ref', 'HEAD'],
      ['rev-list', '--objects', '--all', '--missing=print'],
    ])
      expect(await must(question, second)).toBe(await must(question, first))
    expect(await must(['rev-parse', 'HEAD'], second)).toBe(head)
  })
})

test('a fetch, and a round of talk about what the client has, are answered by git', async () => {
  await fresh()
  const before = await stage.started()
  const parent = await must(['rev-parse', 'main~1'], stage.folder(id))
  const questions = [wanting(head).with(-2, `have ${parent}`), wanting(head).toSpliced(-2, 0, `have ${parent}`)]
  for (const question of [...questions, ...questions, ...questions])
    expect(await ask(stage, id, question)).toMatch(/acknowledgments|packfile/)
  expect([await stage.started(), await stage.cached(id)]).toEqual([before + 6, []])
})

test('what a client calls itself makes no difference, and what it asks does', async () => {
  await fresh()
  const by = (agent: string, sha = head) => wanting(sha).toSpliced(1, 0, `agent=${agent}`)
  await ask(stage, id, by('git/2.39'))
  await stage.cached(id)
  await withoutGit(() => ask(stage, id, by('other/1')))
  const list = (prefix: string) => ['command=ls-refs', DELIMITER, encodePacket(Buffer.from(prefix, 'latin1')), FLUSH]
  const parent = await must(['rev-parse', 'main~1'], stage.folder(id))
  await must(['update-ref', 'refs/heads/a\u00ff', parent], stage.folder(id))
  // The first byte of that letter, and another one: neither is a text.
  for (const _ of [1, 2]) expect(await ask(stage, id, list('ref-prefix refs/heads/a\xc4'))).not.toContain(parent)
  expect(await ask(stage, id, list('ref-prefix refs/heads/a\xc3'))).toContain(parent)
})

test('what is pushed comes with the next clone', async () => {
  await fresh()
  for (const _ of [1, 2, 3]) await clone(stage, id)
  await commit(stage.git, id, [{ op: 'put', path: 'new', content: Buffer.from('new') }])
  const next = await clone(stage, id)
  expect(await must(['show', 'HEAD:new'], next)).toBe('new')
  await stage.git.createTag(id, { name: 'v2', target: 'main', message: 'two', tagger: initialCommit.author })
  expect(await must(['ls-remote', '--tags', stage.url(id)])).toContain('refs/tags/v2^{}')
  await must(['branch', 'other'], stage.folder(id))
  for (const _ of [1, 2]) await clone(stage, id)
  await stage.git.setHead(id, 'other')
  expect(await must(['symbolic-ref', 'HEAD'], await clone(stage, id))).toBe('refs/heads/other')
})

test.each([
  ['forced away', () => must(['update-ref', 'refs/heads/main', 'main~1'], stage.folder(id))],
  ['deleted with its branch', () => must(['update-ref', '-d', 'refs/heads/main'], stage.folder(id))],
])('what was %s is not sent from the cache', async (_, change) => {
  await fresh()
  await cachePack(head, '1')
  await withoutGit(() => ask(stage, id, wantingFirst(head), '1'))
  for (const _ of [1, 2]) expect(await ask(stage, id, listing)).toContain(head)
  await change()
  expect(await ask(stage, id, wantingFirst(head), '1')).toContain('not our ref')
  expect(await ask(stage, id, listing)).not.toContain(head)
})

test('a setting that hides refs counts at once', async () => {
  await fresh()
  for (const _ of [1, 2]) expect(await ask(stage, id, listing)).toContain(head)
  await must(['config', 'transfer.hideRefs', 'refs/heads'], stage.folder(id))
  expect(await ask(stage, id, listing)).not.toContain(head)
})

test('refs are told without git until one moves, also when they are packed', async () => {
  await fresh()
  const told = await ask(stage, id, listing)
  // It is cached for a moment after it was sent.
  await until(async () => {
    const before = await stage.started()
    await ask(stage, id, listing)
    return (await stage.started()) === before
  }, 'the answer is cached')
  expect(await withoutGit(() => ask(stage, id, listing))).toBe(told)
  await stage.git.maintain(id)
  for (const _ of [1, 2]) expect(await ask(stage, id, listing)).toBe(told)
  await must(['branch', 'a'.repeat(10)], stage.folder(id))
  await must(['pack-refs', '--all'], stage.folder(id))
  expect(await ask(stage, id, listing)).toContain('refs/heads/aaaaaaaaaa')
})

test('an answer that git begins late is not taken for one of the refs before', async () => {
  await fresh()
  const before = await stage.started()
  const release = await stage.hold()
  const waiting = [ask(stage, id, listing), ask(stage, id, wanting(head))]
  await until(async () => (await stage.started()) >= before + 2, 'both ask git')
  await must(['branch', 'passing'], stage.folder(id))
  await release()
  const [told] = await Promise.all(waiting)
  expect(told).toContain('refs/heads/passing')
  // The same refs as at first.
  await must(['branch', '-D', 'passing'], stage.folder(id))
  expect(await ask(stage, id, listing)).not.toContain('refs/heads/passing')
  expect(await stage.cached(id)).toEqual([])
})

test('what git says of a damaged tag is not said for long once that is repaired', async () => {
  await fresh()
  await must(['tag', '-a', 'v1', '-m', 'one'], stage.folder(id))
  const tag = await must(['rev-parse', 'v1'], stage.folder(id))
  const path = join(stage.folder(id), 'objects', tag.slice(0, 2), tag.slice(2))
  const object = await Bun.file(path).bytes()
  await rm(path)
  const list = () => must(['ls-remote', stage.url(id)])
  expect(await list()).not.toContain('v1^{}')
  await writeFile(path, object)
  stage.wait(HOUR_MS / 6 + 1)
  expect(await list()).toContain('v1^{}')
})

test('nothing of a deleted repository stays, also of one that is being cloned', async () => {
  await fresh({ bytes: 4 * MIB })
  await cachePack()
  const other = await createWithData(stage, 9000, { bytes: 4 * MIB })
  await ask(stage, 9000, wanting(other))
  const sending = await send(stage, 9000, wanting(other))
  await Promise.all([stage.git.removeRepository(id), stage.git.removeRepository(9000)])
  await sending.arrayBuffer().catch(() => undefined)
  expect([await stage.cached(id), await stage.cached(9000)]).toEqual([[], []])
  expect((await readdir(stage.packs)).filter((name) => name === String(id) || name === '9000')).toEqual([])
})

test('the longest unused go beyond the limit, and all in the end', async () => {
  const small = await openCachedStage(3.5 * MIB)
  const cloneOf = async (number: number, sha: string) => {
    small.wait(60_000)
    await ask(small, number, wanting(sha))
    await small.cached(number)
  }
  const shas: string[] = []
  for (const number of [1, 2, 3, 4]) shas.push(await createWithData(small, number, { bytes: MIB }))
  for (const number of [1, 2, 3, 1, 4]) await cloneOf(number, shas[number - 1] ?? '')
  const left = async () => Promise.all([1, 2, 3, 4].map(async (number) => (await small.cached(number)).length))
  await until(async () => (await left()).reduce((sum, count) => sum + count) <= 3, 'the oldest is gone')
  expect(await left()).toEqual([1, 0, 1, 1])
  small.wait(23 * HOUR_MS)
  expect(await small.git.cleanStreams()).toBe(0)
  small.wait(2 * HOUR_MS)
  expect(await small.git.cleanStreams()).toBe(3)
  await small.close()
})

test('switched off, nothing is cached, nor what was before', async () => {
  const none = await openCachedStage(0)
  await createWithData(none, 1)
  for (const _ of [1, 2, 3]) await clone(none, 1)
  expect(await readdir(none.packs).catch(() => [])).toEqual([])
  await none.close()
})

test.each([
  ['is gone', (path: string) => rm(path)],
  ['is a folder', (path: string) => rm(path).then(() => mkdir(path))],
])('a clone succeeds where the file %s', async (_, damage) => {
  await fresh({ bytes: 50_000 })
  for (const _ of [1, 2]) await clone(stage, id)
  const [name = ''] = await stage.cached(id)
  await damage(join(stage.packs, String(id), name))
  for (const _ of [1, 2]) expect(await must(['rev-parse', 'HEAD'], await clone(stage, id))).toBe(head)
})

test('clones at once are sent what git makes for one of them', async () => {
  await fresh({ bytes: 5 * MIB })
  const before = await stage.started()
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask(stage, id, wanting(head))))
  expect(new Set(answers).size).toBe(1)
  expect((await stage.started()) - before).toBe(1)
  expect(await stage.cached(id)).toHaveLength(1)
})

test.each([
  ['there is no room', MIB, undefined],
  ['the folder cannot be written', 100 * MIB, 'a file'],
])('clones at once succeed where %s', async (_, maxBytes, inTheWay) => {
  const full = await openCachedStage(maxBytes)
  if (inTheWay !== undefined) await writeFile(full.packs, inTheWay)
  const sha = await createWithData(full, 1, { bytes: 6 * MIB })
  const answers = await Promise.all(Array.from({ length: 5 }, () => ask(full, 1, wanting(sha))))
  for (const answer of answers) expect([answer.length > 6 * MIB, answer.endsWith('0000')]).toEqual([true, true])
  await Promise.all([clone(full, 1), clone(full, 1), clone(full, 1)])
  expect(await full.cached(1)).toEqual([])
  await full.close()
})

test('a slow client gets everything, and so do the others, while git has ended', async () => {
  const narrow = await openCachedStage(100 * MIB, { maxTransfers: 1 })
  const sha = await createWithData(narrow, 1, { bytes: 6 * MIB })
  const body = encodeRequest(wanting(sha))
  const request = (question = body) =>
    narrow.git.serve(1, 'upload-pack', { body: new Blob([question]).stream(), protocol: 'version=2' })
  const slow = await request()
  // The one place there is would be taken if git waited for that client.
  const other = await createWithData(narrow, 2, { bytes: MIB })
  expect((await ask(narrow, 2, wanting(other))).length).toBeGreaterThan(MIB)
  const quick = await new Response((await request()).stream).bytes()
  const slowly = Buffer.from(await new Response(slow.stream).bytes())
  expect([slowly.length > 6 * MIB, slowly.equals(Buffer.from(quick))]).toEqual([true, true])
  await narrow.close()
})

describe('who goes away in the middle', () => {
  test('keeps nobody else from the rest', async () => {
    await fresh({ bytes: 20 * MIB })
    const gone = new AbortController()
    const leaving = await send(stage, id, wanting(head), '2', gone.signal)
    const staying = await send(stage, id, wanting(head))
    await leaving.body?.getReader().read()
    gone.abort()
    const rest = Buffer.from(await staying.arrayBuffer())
    expect([rest.length > 20 * MIB, rest.subarray(-4).toString()]).toEqual([true, '0000'])
  })

  test('alone, ends git and leaves nothing, and the next one is served', async () => {
    const slow = await openCachedStage(100 * MIB, { maxTransfers: 1 })
    const sha = await createWithData(slow, 1, { bytes: MIB })
    const release = await slow.hold()
    const gone = new AbortController()
    const body = new Blob([encodeRequest(wanting(sha))]).stream()
    const leaving = slow.git.serve(1, 'upload-pack', { body, protocol: 'version=2', signal: gone.signal })
    await until(async () => (await slow.started()) === 1, 'git is asked')
    gone.abort()
    expect(await codeOf(leaving)).toBe('aborted')
    expect(await slow.cached(1)).toEqual([])
    await release()
    await clone(slow, 1)
    expect(await slow.cached(1)).toHaveLength(1)
    await slow.close()
  })
})
