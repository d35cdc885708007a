import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createGit } from '../../src/git/cli/git.ts'
import { type Claim, Limiter } from '../../src/git/cli/process/limiter.ts'
import type { Git } from '../../src/git/engine.ts'
import { GitError } from '../../src/git/errors.ts'
import type { Client } from '../../src/git/model.ts'
import { codeOf, initialCommit, openStage, type Stage } from './stage.ts'

const { signal } = new AbortController()
const GIB = 1024 ** 3

function open(places: number, maxQueue: number, maxMemoryBytes = GIB) {
  const limiter = new Limiter({ places: { command: places, transfer: places }, maxQueue, maxMemoryBytes })
  return (claim: Partial<Claim> = {}, until = signal) =>
    limiter.acquire(until, { kind: 'transfer', memoryBytes: 0, subject: undefined, client: undefined, ...claim })
}

const visitor = (address: string): Client => ({ key: `address ${address}`, isSignedIn: false })
const account = (id: number): Client => ({ key: `account ${id}`, isSignedIn: true })

test('places pass on in order, refuse beyond the queue, and forget who gave up', async () => {
  const acquire = open(1, 2)
  const impatient = new AbortController()
  const first = await acquire()
  const second = acquire({}, impatient.signal)
  const third = acquire()
  expect(await codeOf(acquire())).toBe('busy')
  impatient.abort(new GitError('aborted', 'aborted', 'gone'))
  expect(await codeOf(second)).toBe('aborted')
  first()
  first()
  ;(await third)()
  ;(await acquire())()
})

test('commands do not wait for transfers', async () => {
  const acquire = open(1, 1)
  const transfer = await acquire()
  ;(await acquire({ kind: 'command' }))()
  transfer()
})

test('one repository leaves a quarter to others, of what runs and of what waits', async () => {
  const acquire = open(4, 4)
  const slow = await Promise.all([1, 2, 3].map(() => acquire({ subject: 'bomb' })))
  const more = [1, 2, 3].map(() => acquire({ subject: 'bomb' }))
  expect(await codeOf(acquire({ subject: 'bomb' }))).toBe('busy')
  const other = await acquire({ subject: 'other' })
  const another = acquire({ subject: 'another' })
  expect(await codeOf(acquire({ subject: 'third' }))).toBe('busy')
  // The bomb has its share: the next who may goes first, though others have waited longer.
  other()
  ;(await another)()
  for (const end of slow) end()
  for (const waiting of more) (await waiting)()
  const all = await Promise.all(['a', 'b', 'c', 'd'].map((subject) => acquire({ subject })))
  for (const end of all) end()
})

describe('of eight places and eight that wait', () => {
  test('one client has half', async () => {
    const acquire = open(8, 8)
    const client = visitor('192.0.2.1')
    const held = await Promise.all([1, 2, 3, 4].map(() => acquire({ client })))
    const waiting = [1, 2, 3, 4].map(() => acquire({ client }))
    expect(await codeOf(acquire({ client }))).toBe('busy')
    ;(await acquire({ client: visitor('192.0.2.2') }))()
    for (const end of held) end()
    for (const end of waiting) (await end)()
  })

  test('all visitors together leave a quarter to those who are signed in, also of one repository', async () => {
    const acquire = open(8, 8)
    const claims = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => ({ client: visitor(name), subject: name }))
    const held = await Promise.all(claims.map((claim) => acquire(claim)))
    const late = acquire({ client: visitor('late'), subject: 'late' })
    const first = await acquire({ client: account(1), subject: 'a' })
    const second = await acquire({ client: account(2), subject: 'a' })
    for (const end of [...held, first, second]) end()
    ;(await late)()
    const crowd = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) => acquire({ client: visitor(name), subject: 'one' })),
    )
    const fifth = acquire({ client: visitor('e'), subject: 'one' })
    ;(await acquire({ client: account(1), subject: 'one' }))()
    for (const end of crowd) end()
    ;(await fifth)()
  })
})

test('who needs more memory than is left waits for it, and others do not', async () => {
  const acquire = open(8, 8)
  const half = { memoryBytes: GIB / 2 }
  const [first, second] = await Promise.all([acquire(half), acquire(half)])
  const third = acquire(half)
  first?.()
  const end = await third
  second?.()
  ;(await acquire(half))()
  end()
})

describe('the engine', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage()
    await stage.git.createRepository(1, { objectFormat: 'sha1', defaultBranch: 'main', initialCommit })
  })
  afterAll(() => stage.close())

  test('makes more transfers than may run wait, and more than may wait fail', async () => {
    const git = await createGit({ repositoriesDir: stage.root, maxTransfers: 1, maxQueue: 4 })
    // A client that says nothing keeps its place until it hangs up.
    const clients = Array.from({ length: 10 }, () => new TransformStream<Uint8Array, Uint8Array>())
    const refusals = Promise.withResolvers<void>()
    let refused = 0
    const calls = clients.map(async ({ readable }) => {
      const code = await codeOf(converse(git, readable))
      if (code === 'busy' && ++refused === 6) refusals.resolve()
      return code
    })
    await refusals.promise
    await Promise.allSettled(clients.map(({ writable }) => writable.close()))
    const codes = await Promise.all(calls)
    expect(codes.filter((code) => code === 'busy')).toHaveLength(6)
    expect(codes.filter((code) => code === undefined)).toHaveLength(1 + 3)
    await git.close()
  })
})

async function converse(git: Git, body: ReadableStream<Uint8Array>): Promise<void> {
  const served = await git.converse(1, { body })
  await new Response(served.stream).arrayBuffer()
  await served.done
}
