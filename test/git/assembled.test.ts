import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createHash, randomBytes } from 'node:crypto'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Assemblies } from '../../src/git/cli/assemblies.ts'
import { assemble } from '../../src/git/cli/assembly.ts'
import { gitEnvironment } from '../../src/git/cli/environment.ts'
import type { Runner } from '../../src/git/cli/process.ts'
import { Slots } from '../../src/git/cli/slots.ts'
import { listStoredPacks } from '../../src/git/cli/stored-packs.ts'
import type { ObjectFormat } from '../../src/git/model.ts'
import { DELIMITER, FLUSH, PacketReader } from '../../src/git/packet.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { openPacks } from '../harness/open-packs.ts'
import { until } from '../harness/until.ts'
import { ask, type CachedStage, clone, encodeRequest, MIB, openCachedStage, wanting } from './cached-stage.ts'
import { commit, initialCommit, must, run } from './stage.ts'

let stage: CachedStage
let id = 0
/** A clone to push from. */
let work = ''

beforeAll(async () => {
  stage = await openCachedStage()
})
afterAll(() => stage.close())

/** An empty repository, and a clone of it. */
async function fresh(objectFormat: ObjectFormat = 'sha1'): Promise<void> {
  id += 1
  await stage.git.createRepository(id, { objectFormat, defaultBranch: 'main' })
  work = stage.work(`work-${id}`)
  await must(['init', '-q', `--object-format=${objectFormat}`, '--initial-branch=main', work])
  await must(['remote', 'add', 'origin', stage.url(id)], work)
}

async function commitFile(name: string, content: string | Buffer): Promise<string> {
  await writeFile(join(work, name), content)
  await must(['add', '-A'], work)
  await must(['commit', '-q', '-m', name], work)
  return must(['rev-parse', 'HEAD'], work)
}

const push = (...refs: string[]) => must(['push', '-q', 'origin', ...(refs.length > 0 ? refs : ['main'])], work)
const packFolder = () => join(stage.folder(id), 'objects/pack')
const packs = async () => (await readdir(packFolder())).filter((name) => name.endsWith('.pack')).length
/** Puts a pack of these objects beside the others. */
const store = (ids: readonly string[]) =>
  Bun.$`git pack-objects -q ${join(packFolder(), 'pack')} < ${Buffer.from(ids.join('\n'))}`.cwd(work).quiet()

const text = (words: number) => Array.from({ length: words }, () => randomBytes(3).toString('hex')).join('\n')

/** The pack in an answer, and how many objects it says it has. */
function packIn(answer: string): { pack: Buffer; objects: number } {
  const reader = new PacketReader()
  reader.push(Buffer.from(answer, 'latin1'))
  const parts: Buffer[] = []
  for (let packet = reader.next(); packet; packet = reader.next())
    if (packet.kind === 'data' && packet.payload[0] === 1) parts.push(packet.payload.subarray(1))
  const pack = Buffer.concat(parts)
  return { pack, objects: pack.readUInt32BE(8) }
}

/** Asks for a commit twice; whether git made no pack for either. What comes is looked through, and is what is reachable. */
async function isAssembled(wanted: string, question = wanting(wanted)): Promise<boolean> {
  const before = await stage.started()
  for (const turn of [1, 2]) {
    const { pack, objects } = packIn(await ask(stage, id, question))
    const place = stage.work(`looked-${id}-${turn}-${wanted.slice(0, 8)}.git`)
    await must(['init', '-q', '--bare', `--object-format=${wanted.length > 40 ? 'sha256' : 'sha1'}`, place])
    await writeFile(join(place, 'some.pack'), pack)
    await must(['index-pack', '--strict', join(place, 'some.pack')], place)
    const reachable = await must(['rev-list', '--objects', '--count', wanted], stage.folder(id))
    expect(objects).toBe(Number(reachable))
    await rm(place, { recursive: true })
  }
  return (await stage.started()) === before
}

/** In this format, since by default a client asks in the other one. */
const wantingLong = (sha: string) => ['command=fetch', 'object-format=sha256', ...wanting(sha).slice(1)]

describe.each([
  ['sha1', wanting],
  ['sha256', wantingLong],
] as const)('in %s', (objectFormat, want) => {
  test('what was pushed once is sent as it lies', async () => {
    await fresh(objectFormat)
    const head = await commitFile('a', randomBytes(300_000))
    await push()
    expect(await isAssembled(head, want(head))).toBe(true)
    const copy = await clone(stage, id)
    expect(await must(['rev-parse', 'HEAD'], copy)).toBe(head)
    expect(await stage.kept(id)).toEqual([])
  })

  test('small pushes, of which each has the base of its delta with it, are laid behind it', async () => {
    await fresh(objectFormat)
    await writeFile(join(work, 'grows'), text(20_000))
    let head = await commitFile('large', randomBytes(MIB))
    await push()
    for (const turn of [1, 2, 3, 4]) {
      await writeFile(join(work, 'grows'), `${await Bun.file(join(work, 'grows')).text()}\n${text(10)}`)
      head = await commitFile(`small-${turn}`, text(20))
      await push()
      expect(await isAssembled(head, want(head))).toBe(true)
    }
    expect(await packs()).toBe(5)
    await must(['tag', '-a', '-m', 'one', 'v1'], work)
    await push('v1')
    const before = await stage.started('rev-list')
    const mirror = await clone(stage, id, ['--mirror'])
    expect(await must(['show-ref'], mirror)).toBe(await must(['show-ref'], stage.folder(id)))
    expect(await stage.started('rev-list')).toBeGreaterThan(before)
  })
})

describe('git makes the pack', () => {
  let head = ''
  beforeEach(async () => {
    await fresh()
    await commitFile('large', randomBytes(200_000))
    head = await commitFile('a', 'a\n')
    await push()
  })

  test('where something is stored that nobody asks for: a secret that was taken back is not sent', async () => {
    await commitFile('secret', 'secret')
    await push()
    await must(['reset', '-q', '--hard', head], work)
    await push('+main')
    expect(await isAssembled(head)).toBe(false)
    const parent = await must(['rev-parse', 'HEAD~1'], work)
    expect(await isAssembled(parent)).toBe(false)
  })

  test.each(['sha1', 'sha256'] as const)('where the tree of nothing is counted and not stored (%s)', async (format) => {
    await fresh(format)
    await must(['commit', '-q', '--allow-empty', '-m', 'nothing'], work)
    const nothing = await must(['rev-parse', 'HEAD'], work)
    await must(['commit', '-q', '--allow-empty', '--amend', '-m', 'secret'], work)
    const secret = await must(['rev-parse', 'HEAD'], work)
    await store([nothing, secret])
    expect(await isAssembled(nothing, (format === 'sha1' ? wanting : wantingLong)(nothing))).toBe(false)
  })

  test('where a commit is gone that the graph of commits still tells of', async () => {
    await must(['commit-graph', 'write', '--reachable'], stage.folder(id))
    const [, parent, ...rest] = (await must(['rev-list', '--objects', '--no-object-names', head], work)).split('\n')
    expect(parent).toBe(await must(['rev-parse', 'HEAD~1'], work))
    await must(['commit', '-q', '--amend', '-m', 'secret'], work)
    for (const name of await readdir(packFolder())) await rm(join(packFolder(), name))
    await store([head, await must(['rev-parse', 'HEAD'], work), ...rest])
    const before = await stage.started()
    await ask(stage, id, wanting(head))
    expect(await stage.started()).toBe(before + 1)
  })

  test('where objects lie by themselves', async () => {
    await must(['hash-object', '-w', '/dev/null'], stage.folder(id))
    expect(await isAssembled(head)).toBe(false)
  })

  test('where objects are borrowed', async () => {
    await mkdir(stage.work(`lender-${id}`))
    await writeFile(join(stage.folder(id), 'objects/info/alternates'), `${stage.work(`lender-${id}`)}\n`)
    expect(await isAssembled(head)).toBe(false)
  })

  test('where new packs are not small', async () => {
    const second = await commitFile('second', randomBytes(150_000))
    await push()
    expect(await isAssembled(second)).toBe(false)
    await must(['repack', '-adq'], stage.folder(id))
    expect(await isAssembled(second)).toBe(true)
  })

  test.each([
    ['a part of the history', ['ofs-delta', 'deepen 1', 'done\n']],
    ['a part of the files', ['ofs-delta', 'filter blob:none', 'done\n']],
    ['what a client has', ['ofs-delta', `have ${'1'.repeat(40)}`, 'done\n']],
    ['deltas by name alone', ['done\n']],
    ['something unknown', ['ofs-delta', 'sideband-all', 'done\n']],
  ])('for a question about %s', async (_, rest) => {
    const before = await stage.started()
    await ask(stage, id, ['command=fetch', DELIMITER, `want ${head}\n`, ...rest, FLUSH])
    expect(await stage.started()).toBe(before + 1)
  })

  test('for what is not there, and for ids of another kind, and says so', async () => {
    await push(`main:refs/heads/${'1'.repeat(64)}`)
    for (const sha of ['1'.repeat(40), '1'.repeat(64)])
      expect(await ask(stage, id, wanting(sha))).not.toContain('packfile')
    expect(await ask(stage, id, wantingLong(head))).not.toContain('packfile')
  })

  test('for a part of what is there, and after some of those nobody looks for more', async () => {
    const shas: string[] = []
    for (const turn of [1, 2, 3, 4]) shas.push(await commitFile(`b${turn}`, text(10)))
    await push()
    const before = await stage.started('rev-list')
    for (const sha of shas.slice(0, 3)) expect(await isAssembled(sha)).toBe(false)
    expect(await stage.started('rev-list')).toBe(before + 3)
    expect(await isAssembled(shas[3] ?? '')).toBe(false)
    expect(await stage.started('rev-list')).toBe(before + 3)
  })
})

test('what was found out is not asked again, and is found out anew where packs were joined', async () => {
  await fresh()
  await commitFile('large', randomBytes(500_000))
  await push()
  const head = await commitFile('a', text(100))
  await push()
  const before = await stage.started('rev-list')
  await Promise.all(Array.from({ length: 6 }, () => ask(stage, id, wanting(head))))
  expect(await isAssembled(head)).toBe(true)
  expect(await stage.started('rev-list')).toBe(before + 1)
  await must(['repack', '-adq'], stage.folder(id))
  expect(await isAssembled(head)).toBe(true)
  expect(await stage.started('rev-list')).toBe(before + 2)
  await stage.git.removeRepository(id)
  const gone = stage.git.serve(id, 'upload-pack', {
    body: new Blob([encodeRequest(wanting(head))]).stream(),
    protocol: 'version=2',
  })
  await expect(gone).rejects.toThrow('not in the store')
})

test('who goes away lets go of the files, also before the first byte', async () => {
  await fresh()
  const head = await commitFile('large', randomBytes(2 * MIB))
  await push()
  const isOpen = async () => (await openPacks(stage.folder(id))).length > 0
  const begin = (signal: AbortSignal) =>
    stage.git.serve(id, 'upload-pack', {
      body: new Blob([encodeRequest(wanting(head))]).stream(),
      protocol: 'version=2',
      signal,
    })
  const gone = new AbortController()
  await begin(gone.signal)
  expect(await isOpen()).toBe(true)
  gone.abort()
  await until(async () => !(await isOpen()), 'its files are closed')
  const { stream } = await begin(new AbortController().signal)
  const reader = stream.getReader()
  await reader.read()
  expect(await isOpen()).toBe(true)
  await reader.cancel()
  expect(await isOpen()).toBe(false)
})

test('who takes longer than a transfer may take is broken off', async () => {
  const quick = await openCachedStage(MIB, { transferTimeoutMs: 400 })
  await quick.git.createRepository(1, { objectFormat: 'sha1', defaultBranch: 'main', initialCommit })
  await commit(quick.git, 1, [{ op: 'put', path: 'large', content: randomBytes(2 * MIB) }])
  const head = await must(['rev-parse', 'main'], quick.folder(1))
  const { stream, send } = await quick.git.serve(1, 'upload-pack', {
    body: new Blob([encodeRequest(wanting(head))]).stream(),
    protocol: 'version=2',
  })
  expect(send).toBeDefined()
  const reader = stream.getReader()
  const slowly = async () => {
    for (let next = await reader.read(); !next.done; next = await reader.read()) await Bun.sleep(100)
  }
  await expect(slowly()).rejects.toThrow()
  await quick.close()
})

test('a pack that has become shorter ends the answer early', async () => {
  await fresh()
  const head = await commitFile('large', randomBytes(2 * MIB))
  await push()
  expect(await isAssembled(head)).toBe(true)
  const folder = join(stage.folder(id), 'objects/pack')
  const [name = ''] = (await readdir(folder)).filter((file) => file.endsWith('.pack'))
  await must(['config', 'core.bare', 'true'], stage.folder(id))
  await Bun.write(join(folder, 'short'), (await Bun.file(join(folder, name)).bytes()).subarray(0, MIB))
  await Bun.$`mv -f ${join(folder, 'short')} ${join(folder, name)}`.quiet()
  expect((await run(['clone', '-q', stage.url(id), stage.work('short')])).exitCode).not.toBe(0)
})

/** Numbers that are the same in each run. */
function dice(seed: number) {
  let state = seed
  return (sides: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return (state >> 8) % sides
  }
}

test.each([1, 2, 3])('whatever is pushed, a clone is what it was before (%d)', async (seed) => {
  const roll = dice(seed)
  await fresh()
  await commitFile('large', randomBytes(MIB))
  await push()
  let assembled = 0
  for (let turn = 0; turn < 25; turn += 1) {
    const branch = `b${roll(3)}`
    await must(['checkout', '-q', ...(roll(3) === 0 ? ['-B', branch, 'main'] : ['-B', branch])], work)
    const name = `f${roll(4)}`
    const old = await Bun.file(join(work, name))
      .text()
      .catch(() => '')
    await commitFile(name, roll(2) === 0 ? `${old}\n${text(1 + roll(200))}` : text(1 + roll(2000)))
    if (roll(6) === 0) await must(['tag', '-f', '-a', '-m', 'tag', `t${roll(2)}`], work)
    await push(roll(2) === 0 ? '--thin' : '--no-thin', '-f', branch, ...(roll(4) === 0 ? ['--tags'] : []))
    if (roll(8) === 0) await must(['repack', '-dq', '--geometric=2'], stage.folder(id))
    if (roll(12) === 0) await must(['gc', '-q', '--prune=now'], stage.folder(id))
    const before = await stage.started()
    const copy = await clone(stage, id, ['--mirror'])
    // Of a clone that git made, more than what refs are there.
    if ((await stage.started()) - before <= 1) assembled += 1
    const everything = ['rev-list', '--objects', '--all', '--no-object-names']
    const of = async (place: string) => (await must(everything, place)).split('\n').sort()
    expect(await of(copy)).toEqual(await of(stage.folder(id)))
    const stored = await must(['cat-file', '--batch-check=%(objectname)', '--batch-all-objects'], copy)
    expect(stored.split('\n').sort()).toEqual(await of(copy))
    await rm(copy, { recursive: true })
  }
  expect(assembled).toBeGreaterThan(0)
})

test('after a push, the next clone of a repository that is cloned often needs no git', async () => {
  await fresh()
  await commitFile('large', randomBytes(100_000))
  await push()
  await clone(stage, id)
  const head = await commitFile('a', text(10))
  const asked = () => Promise.all([stage.started(), stage.started('rev-list')])
  const [, before] = await asked()
  await push()
  await until(async () => (await stage.started('rev-list')) > before, 'the next clone is looked into')
  const ready = await asked()
  const copy = await clone(stage, id)
  expect(await must(['rev-parse', 'HEAD'], copy)).toBe(head)
  expect(await asked()).toEqual(ready)
  stage.wait(3_600_000)
  await commitFile('b', text(10))
  const [uploads] = await asked()
  await push()
  // Begins after whatever the push has begun.
  await stage.git.fsck(id)
  expect((await asked())[0]).toBe(uploads)
})

function runner(): Runner {
  const binary = Bun.which('git') ?? ''
  return {
    binary,
    root: dirname(stage.folder(id)),
    environment: gitEnvironment(binary),
    clock: systemClock,
    commands: new Slots(2, 10),
    transfers: new Slots(2, 10),
    timeouts: { commandMs: 30_000, transferMs: 30_000 },
    maxOutputBytes: MIB,
    maxMemoryBytes: 1024 ** 3,
  }
}

test('what is prepared has its checksum before anybody is sent it', async () => {
  await fresh()
  await commitFile('large', randomBytes(3 * MIB))
  await push()
  const head = await commitFile('a', text(10))
  await push()
  const subject = { id, folder: stage.folder(id), format: 'sha1', wants: [head] } as const
  const assemblies = new Assemblies(runner())
  expect((await assemblies.find(subject))?.checksum).toBeUndefined()
  await assemblies.prepare(subject)
  const { pack } = packIn(await ask(stage, id, wanting(head)))
  expect((await assemblies.find(subject))?.checksum).toEqual(pack.subarray(-20))
  expect(pack.subarray(-20)).toEqual(createHash('sha1').update(pack.subarray(0, -20)).digest())
})

test('what was asked in vain does not keep the next clone of everything from being prepared', async () => {
  await fresh()
  const parts = [await commitFile('large', randomBytes(100_000))]
  for (const name of ['a', 'b']) parts.push(await commitFile(name, text(10)))
  await commitFile('c', text(10))
  await push()
  await clone(stage, id)
  for (const sha of parts) expect(await isAssembled(sha)).toBe(false)
  const before = await stage.started('rev-list')
  const head = await commitFile('d', text(10))
  await push()
  await until(async () => (await stage.started('rev-list')) > before, 'the next clone is looked into')
  expect(await isAssembled(head)).toBe(true)
})

test('however many pushes come at once, one look ahead follows the one that runs', async () => {
  await fresh()
  await commitFile('large', randomBytes(100_000))
  await push()
  await clone(stage, id)
  // Nobody's habit: what is kept of one question is little.
  const prefixes = Array.from({ length: 100 }, (_, number) => `ref-prefix refs/nothing/${number}\n`)
  await ask(stage, id, ['command=ls-refs\n', DELIMITER, ...prefixes, FLUSH])
  const before = await stage.started()
  const looks = await stage.started('rev-list')
  const release = await stage.hold()
  for (const name of ['a', 'b', 'c', 'd']) {
    await commitFile(name, text(10))
    await push()
  }
  await stage.git.fsck(id)
  expect(await stage.started()).toBe(before + 1)
  await release()
  await until(async () => (await stage.started()) >= before + 2, 'one look follows')
  await stage.git.fsck(id)
  expect(await stage.started()).toBe(before + 2)
  expect(await stage.started('rev-list')).toBe(looks + 1)
})

test('an index is believed about its own pack alone', async () => {
  await fresh()
  await commitFile('large', randomBytes(100_000))
  await push()
  await commitFile('a', text(10))
  await push()
  const stored = async () => (await listStoredPacks(stage.folder(id), 32)) ?? []
  for (const { path, objects } of await stored()) {
    expect((await assemble(await stored(), 'sha1'))?.objects).toBe(6)
    expect(objects).toBe(3)
    const right = await Bun.file(`${path}.idx`).bytes()
    const wrong = Buffer.from(right)
    wrong.subarray(-40, -20).fill(0)
    await rm(`${path}.idx`)
    await writeFile(`${path}.idx`, wrong)
    expect(await assemble(await stored(), 'sha1')).toBeUndefined()
    await writeFile(`${path}.idx`, right)
  }
})

test('clients that read nothing cannot keep all files open: then git makes the pack', async () => {
  await fresh()
  const head = await commitFile('large', randomBytes(2 * MIB))
  await push()
  const slow = new AbortController()
  const begin = () =>
    stage.git.serve(id, 'upload-pack', {
      body: new Blob([encodeRequest(wanting(head))]).stream(),
      protocol: 'version=2',
      signal: slow.signal,
    })
  for (let count = 0; count < 2000; count += 1) await begin()
  const before = await stage.started()
  await ask(stage, id, wanting(head))
  expect(await stage.started()).toBe(before + 1)
  slow.abort()
  // Each file is let go of by itself.
  while (!(await isAssembled(head)));
})
