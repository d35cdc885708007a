import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../src/config.ts'
import { checkObjects } from '../../src/doctor/objects.ts'
import { Refusal } from '../../src/kernel/errors.ts'
import { createLog } from '../../src/log.ts'
import { checkAtStart, openObjectStore } from '../../src/object-store/open.ts'
import { type ObjectStore, ObjectStoreError } from '../../src/object-store/store.ts'
import { type S3Server, startS3 } from '../harness/s3.ts'

const log = createLog({ logLevel: 'silent', logFormat: 'json' })
const folder = mkdtempSync(join(tmpdir(), 'hearth-objects-'))
let s3: S3Server
beforeAll(() => {
  s3 = startS3()
})
afterAll(async () => {
  await s3.stop()
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(() => {
  s3.objects.clear()
  s3.failWith = undefined
})

const configOf = (settings: Record<string, string>) => loadConfig({ DATA_DIR: folder, ...settings })
const open = (settings: Record<string, string>) => openObjectStore(configOf(settings), log)

const MIB = 1024 * 1024
const LIMIT = { maxBytes: 64 * MIB }

/** So many pieces of 1 MiB, each as it is asked for. */
function pieces(count: number, failure?: Error): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        at += 1
        if (at <= count) controller.enqueue(new Uint8Array(MIB).fill(at))
        else if (failure) controller.error(failure)
        else controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}
const text = (value: string): ReadableStream<Uint8Array> => new Blob([value]).stream()
const read = async (store: ObjectStore, key: string, range?: { start: number; end: number }) => {
  const opened = await store.open(key, range)
  return opened && new Response(opened.content).text()
}
const keys = async (store: ObjectStore, of: string) =>
  (await Array.fromAsync(store.list(of))).map(({ key }) => key).sort()
const sha256 = (value: string) => createHash('sha256').update(value).digest('hex')

const stores = [
  ['disk', () => open({})],
  ['s3', () => open(s3.settings)],
] as const

describe.each(stores)('%s', (name, make) => {
  const leftovers = () => (name === 's3' ? s3.openUploads() : readdirSync(join(folder, 'objects', '.uploads')).length)

  test('what was stored is read whole and in parts, and gone when removed', async () => {
    const store = make()
    const stored = await store.put('a/one', text('0123456789'), LIMIT)
    expect(stored).toEqual({ size: 10, sha256: sha256('0123456789') })
    expect(await store.size('a/one')).toBe(10)
    expect(await read(store, 'a/one')).toBe('0123456789')
    expect(await read(store, 'a/one', { start: 0, end: 1 })).toBe('0')
    expect(await read(store, 'a/one', { start: 3, end: 7 })).toBe('3456')
    expect(await read(store, 'a/one', { start: 8, end: 99 })).toBe('89')
    expect(await read(store, 'a/one', { start: 10, end: 20 })).toBe('')
    await store.remove('a/one')
    await store.remove('a/one')
    expect(await store.open('a/one')).toBeUndefined()
    expect(await store.size('a/one')).toBeUndefined()
  })

  test('nothing is an object too', async () => {
    const store = make()
    expect(await store.put('a/empty', text(''), LIMIT)).toEqual({ size: 0, sha256: sha256('') })
    expect(await store.size('a/empty')).toBe(0)
    expect(await read(store, 'a/empty')).toBe('')
    await store.remove('a/empty')
  })

  test('what comes in many parts is the same behind them', async () => {
    const store = make()
    const stored = await store.put('a/large', pieces(20), LIMIT)
    expect(stored.size).toBe(20 * MIB)
    const opened = await store.open('a/large', { start: 11 * MIB - 1, end: 11 * MIB + 1 })
    expect(opened?.size).toBe(20 * MIB)
    expect(await new Response(opened?.content).bytes()).toEqual(new Uint8Array([11, 12]))
    const whole = createHash('sha256')
    for await (const chunk of (await store.open('a/large'))?.content ?? []) whole.update(chunk)
    expect(whole.digest('hex')).toBe(stored.sha256)
    await store.remove('a/large')
  })

  test('the last who stores under a key is the one who is read', async () => {
    const store = make()
    await store.put('a/twice', text('before'), LIMIT)
    await store.put('a/twice', text('after'), LIMIT)
    expect(await read(store, 'a/twice')).toBe('after')
    await store.remove('a/twice')
  })

  test('two at once under one key leave one of them whole', async () => {
    const [one, other] = [make(), make()]
    const stored = await Promise.all([one.put('a/raced', pieces(8), LIMIT), other.put('a/raced', pieces(9), LIMIT)])
    const bytes = await new Response((await one.open('a/raced'))?.content).bytes()
    expect(stored).toContainEqual({ size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') })
    await one.remove('a/raced')
  })

  test.each([1, 20])(
    'content that fails after %d MiB leaves nothing, and what it failed with is thrown',
    async (count) => {
      const store = make()
      const failure = new Error('the client left')
      expect(await store.put('a/broken', pieces(count, failure), LIMIT).catch((error) => error)).toBe(failure)
      expect(await store.size('a/broken')).toBeUndefined()
      expect(leftovers()).toBe(0)
    },
  )

  test.each([
    ['too large', { maxBytes: 20 * MIB - 1 }, 413],
    ['of another size', { ...LIMIT, expected: { size: 20 * MIB + 1 } }, 422],
    ['other than was said', { ...LIMIT, expected: { sha256: sha256('else') } }, 422],
  ])('content that is %s is not stored', async (_, option, status) => {
    const store = make()
    const refusal: unknown = await store.put('a/refused', pieces(20), option).catch((error) => error)
    expect(refusal).toBeInstanceOf(Refusal)
    expect(refusal).toMatchObject({ status })
    expect(await store.size('a/refused')).toBeUndefined()
    expect(leftovers()).toBe(0)
  })

  test('content that is what was said is stored', async () => {
    const store = make()
    const expected = { size: 5, sha256: sha256('hello') }
    expect(await store.put('a/right', text('hello'), { ...LIMIT, expected })).toEqual(expected)
    await store.remove('a/right')
  })

  test('an upload that is called off stores nothing, also while its source is silent', async () => {
    const store = make()
    const calling = new AbortController()
    const silent = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        controller.enqueue(new Uint8Array(MIB))
        return new Promise(() => calling.abort(new Error('called off')))
      },
    })
    const put = store.put('a/off', silent, { ...LIMIT, signal: calling.signal })
    expect(await put.catch((error) => String(error))).toBe('Error: called off')
    expect(await store.size('a/off')).toBeUndefined()
    expect(leftovers()).toBe(0)
  })

  test('a reader who leaves is let go', async () => {
    const store = make()
    await store.put('a/left', pieces(20), LIMIT)
    const reader = (await store.open('a/left'))?.content.getReader()
    await reader?.read()
    await reader?.cancel()
    expect(await store.size('a/left')).toBe(20 * MIB)
    await store.remove('a/left')
  })

  test('a list has all objects of a folder, with their times, and no others', async () => {
    const store = make()
    const made = ['list/1', 'list/2', 'list/deeper/3', 'list/deeper/4', 'list/5', 'listed', 'other/6']
    for (const key of made) await store.put(key, text(key), LIMIT)
    expect(await keys(store, 'list')).toEqual(['list/1', 'list/2', 'list/5', 'list/deeper/3', 'list/deeper/4'])
    expect(await keys(store, 'nothing')).toEqual([])
    for await (const { size, modifiedAt } of store.list('other')) {
      expect(size).toBe(7)
      expect(modifiedAt.getTime()).toBeGreaterThan(0)
    }
    for (const key of made) await store.remove(key)
  })

  test.each(['../up', 'a/../b', '/a', 'a/', 'a//b', '.uploads/x', 'A', 'a b', 'a\0', '', 'a'.repeat(101)])(
    'the key %j is none',
    async (key) => {
      expect(await make().put(key, text('x'), LIMIT).catch(String)).toStartWith('Error: not a key')
      expect(await make().open(key).catch(String)).toStartWith('Error: not a key')
    },
  )

  test('it finds itself working, and leaves nothing of that', async () => {
    await make().check()
    expect(await keys(make(), 'probe')).toEqual([])
    expect(await checkObjects(configOf(name === 's3' ? s3.settings : {}))).not.toHaveProperty('remedy')
  })
})

test('what a killed process left in the folder goes when it is old enough', async () => {
  const store = open({})
  await store.put('a/whole', text('whole'), LIMIT)
  const [left, going] = ['left', 'going'].map((name) => join(folder, 'objects', '.uploads', name)) as [string, string]
  for (const path of [left, going]) writeFileSync(path, 'half')
  utimesSync(left, new Date(1000), new Date(1000))
  expect(await store.removeUnfinished(new Date(2000))).toBe(1)
  expect(readdirSync(join(folder, 'objects', '.uploads'))).toEqual(['going'])
  expect(await read(store, 'a/whole')).toBe('whole')
  rmSync(going)
})

describe('a bucket that cannot be used', () => {
  const check = (settings: Record<string, string>) =>
    checkAtStart(open(settings), configOf(settings), log).then(
      () => 'started',
      (error: unknown) => String(error),
    )

  test.each([
    ['the wrong secret', { S3_SECRET_ACCESS_KEY: 'another' }, 'SignatureDoesNotMatch'],
    ['another bucket', { S3_BUCKET: 'missing' }, 'NoSuchBucket'],
  ])('because of %s ends the start with what to do', async (_, wrong, code) => {
    const message = await check({ ...s3.settings, ...wrong })
    expect(message).toContain(code)
    expect(message).toContain('S3_SECRET_ACCESS_KEY')
    expect(message).not.toContain('another')
    expect(await checkObjects(configOf({ ...s3.settings, ...wrong }))).toMatchObject({
      subject: 'Object storage',
      detail: expect.stringContaining(code),
      remedy: expect.stringContaining('S3_ENDPOINT'),
    })
  })

  test('because it is away lets the service start', async () => {
    const away = { ...s3.settings, S3_ENDPOINT: 'http://127.0.0.1:1' }
    expect(await check(away)).toBe('started')
    const failure: unknown = await open(away)
      .size('a/b')
      .catch((error) => error)
    expect(failure).toBeInstanceOf(ObjectStoreError)
    expect(await checkObjects(configOf(away))).toHaveProperty('remedy')
  })

  test('because it fails says so in every operation, and stores nothing', async () => {
    const store = open(s3.settings)
    s3.failWith = new Response('<Error><Code>SlowDown</Code><Message>later</Message></Error>', { status: 503 })
    const failures = await Promise.allSettled([
      store.put('a/b', pieces(1), LIMIT),
      store.open('a/b'),
      store.size('a/b'),
      store.remove('a/b'),
      Array.fromAsync(store.list('a')),
    ])
    for (const failure of failures)
      expect(failure).toMatchObject({ status: 'rejected', reason: expect.any(ObjectStoreError) })
    expect(s3.objects.size).toBe(0)
  })

  test('more uploads than may wait are refused at once', async () => {
    const store = open(s3.settings)
    const { promise: gate, resolve: free } = Promise.withResolvers<void>()
    const waiting = () =>
      new ReadableStream<Uint8Array>({
        async pull(controller) {
          await gate
          controller.close()
        },
      })
    const puts = Array.from({ length: 100 }, (_, at) => store.put(`many/${at}`, waiting(), LIMIT))
    const settled = Promise.allSettled(puts)
    expect(await Promise.race(puts).catch((error) => error)).toMatchObject({ status: 503 })
    free()
    const stored = (await settled).filter(({ status }) => status === 'fulfilled').length
    expect(stored).toBe(16 + 64)
    expect(s3.objects.size).toBe(stored)
  })
})

test('settings that are missing for S3 are named', () => {
  expect(() => configOf({ OBJECT_STORAGE: 's3', S3_BUCKET: 'x' })).toThrow(
    'S3_ACCESS_KEY_ID is not set, and OBJECT_STORAGE=s3 needs it\nS3_SECRET_ACCESS_KEY is not set',
  )
  expect(() => configOf({ ...s3.settings, S3_PREFIX: '../up//x' })).toThrow('S3_PREFIX')
})

test('a folder that cannot be written ends the start with what to do', async () => {
  const config = configOf({ OBJECTS_DIR: join(folder, 'a-file') })
  writeFileSync(config.objectsDir, '')
  expect(await checkAtStart(openObjectStore(config, log), config, log).catch(String)).toContain('set OBJECTS_DIR to')
  expect(await checkObjects(config)).toMatchObject({ subject: 'OBJECTS_DIR', remedy: expect.any(String) })
})
