import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { createGit } from '../../src/git/cli/git.ts'
import { Readers } from '../../src/git/cli/objects/readers.ts'
import { gitEnvironment } from '../../src/git/cli/process/environment.ts'
import { GitError } from '../../src/git/errors.ts'
import { until } from '../harness/until.ts'
import { codeOf, commit, initialCommit, must, openServer, openStage, type Stage } from './stage.ts'

let stage: Stage

beforeAll(async () => {
  stage = await openStage()
  for (const id of [1, 2, 3, 4])
    await stage.git.createRepository(id, { objectFormat: 'sha1', defaultBranch: 'main', initialCommit })
})

afterAll(() => stage.close())

/** Processes whose command line names the folder. */
async function processesOf(folder: string): Promise<number[]> {
  const found: number[] = []
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    if (line.includes(folder)) found.push(Number(pid))
  }
  return found
}

/** A push that has sent its command and the beginning of a pack, and then nothing. */
function hangingPush(ref = 'refs/heads/new') {
  const line = `${'0'.repeat(40)} ${'1'.repeat(40)} ${ref}\0report-status`
  const head = Buffer.from(
    `${(line.length + 4).toString(16).padStart(4, '0')}${line}0000PACK\0\0\0\x02\0\0\0\x09`,
    'latin1',
  )
  let isSent = false
  let isCancelled = false
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (isSent) return new Promise<void>(() => {})
        isSent = true
        controller.enqueue(head)
      },
      cancel() {
        isCancelled = true
      },
    },
    { highWaterMark: 0 },
  )
  return { body, isCancelled: () => isCancelled }
}

describe('a transfer ends with its client', () => {
  test('when the signal fires, children, quarantine and locks go', async () => {
    const controller = new AbortController()
    const push = hangingPush()
    const { stream, done } = await stage.git.serve(1, 'receive-pack', { body: push.body, signal: controller.signal })
    const answer = new Response(stream).text().catch((error) => error)
    await until(
      async () => (await readdir(join(stage.folder(1), 'objects'))).some((name) => name.startsWith('tmp_objdir')),
      'the pack arrives',
    )
    expect(await processesOf(stage.folder(1))).not.toHaveLength(0)
    controller.abort()
    expect((await done).exitCode).not.toBe(0)
    expect(await answer).toBeInstanceOf(GitError)
    expect((await processesOf(stage.folder(1))).length).toBe(0)
    expect((await readdir(join(stage.folder(1), 'objects'))).sort()).toEqual(['info', 'pack'])
    await commit(stage.git, 1, [{ op: 'create', path: 'after', content: '' }])
  })

  test('when the reader cancels', async () => {
    const push = hangingPush()
    const { stream, done } = await stage.git.serve(2, 'receive-pack', { body: push.body })
    await stream.cancel()
    expect((await done).exitCode).not.toBe(0)
    expect(await processesOf(stage.folder(2))).toHaveLength(0)
  })

  test('when its time is over', async () => {
    const { stream, done } = await stage.git.serve(2, 'receive-pack', { body: hangingPush().body, timeoutMs: 100 })
    const error = await new Response(stream).text().catch((thrown) => thrown)
    expect(error).toMatchObject({ kind: 'timeout' })
    expect((await done).stderr).toContain('longer than 100 ms')
    const controller = new AbortController()
    controller.abort()
    expect(await codeOf(stage.git.listRefs(2, {}, { signal: controller.signal }))).toBe('aborted')
  })

  test('when the client of a clone vanishes', async () => {
    await commit(stage.git, 3, [{ op: 'create', path: 'big', content: randomBytes(24_000_000) }])
    const head = (await stage.git.resolve(3, 'main')).sha
    const want = `want ${head} side-band-64k ofs-delta\n`
    const request = `${(want.length + 4).toString(16).padStart(4, '0')}${want}00000009done\n`
    const serving = () => processesOf(`--stateless-rpc\0${stage.folder(3)}`)
    const { stream, done } = await stage.git.serve(3, 'upload-pack', { body: new Blob([request]).stream() })
    const reader = stream.getReader()
    await reader.read()
    await until(async () => (await serving()).length > 0, 'git serves')
    await reader.cancel()
    await done
    expect(await serving()).toHaveLength(0)

    const server = openServer(stage)
    const { hostname, port, pathname } = new URL(server.url(3))
    const socket = connect(Number(port), hostname)
    socket.write(
      `POST ${pathname}/git-upload-pack HTTP/1.1\r\nhost: x\r\ncontent-length: ${request.length}\r\n\r\n${request}`,
    )
    await new Promise((resolve) => socket.once('data', resolve))
    socket.pause()
    await until(async () => (await serving()).length > 0, 'git serves')
    socket.destroy()
    await until(async () => (await serving()).length === 0, 'git has ended')
    await server.close()
  })
})

describe('idle readers', () => {
  const openReaders = (max: number, maxQueue = 10) =>
    new Readers({
      binary: '/usr/bin/git',
      environment: gitEnvironment('/usr/bin/git'),
      folderOf: (id) => stage.folder(id),
      requireFolder: async (id) => stage.folder(id),
      max,
      maxQueue,
      idleMs: 50,
      timeoutMs: 10_000,
    })
  const head = [{ verb: 'info', name: 'HEAD' }] as const

  test('are bounded over all repositories, and each question is answered', async () => {
    const readers = openReaders(2, 100)
    const ids = Array.from({ length: 40 }, (_, number) => (number % 4) + 1)
    let most = 0
    const answers = await Promise.all(
      ids.map(async (id) => {
        const [answer] = await readers.ask(id, [...head])
        most = Math.max(most, readers.count)
        return answer?.kind
      }),
    )
    expect(answers).toEqual(ids.map(() => 'object'))
    expect(most).toBeLessThanOrEqual(2)
    await readers.close()
    expect(readers.count).toBe(0)
  })

  test('refuse when too many wait', async () => {
    const readers = openReaders(1, 1)
    const codes = await Promise.all([1, 2, 3, 4].map((id) => codeOf(readers.ask(id, [...head]))))
    expect(codes.filter((code) => code === 'busy').length).toBeGreaterThan(0)
    expect(codes.filter((code) => code === undefined).length).toBeGreaterThan(0)
    await readers.close()
  })

  test('are replaced when they are killed, even under questions', async () => {
    for (let round = 0; round < 5; round++) {
      await stage.git.resolve(4, 'main')
      const asked = Promise.all(Array.from({ length: 50 }, () => stage.git.readCommit(4, 'main')))
      for (const pid of await processesOf(`${stage.folder(4)}\0cat-file`)) process.kill(pid, 'SIGKILL')
      expect(await asked).toHaveLength(50)
    }
  })

  test('end after a while without questions, and with their repository', async () => {
    const readers = openReaders(2)
    await readers.ask(4, [...head])
    expect(readers.count).toBe(1)
    await until(async () => readers.count === 0, 'no reader is left')
    await stage.git.createRepository(5, { objectFormat: 'sha1', defaultBranch: 'main', initialCommit })
    await stage.git.resolve(5, 'main')
    await stage.git.removeRepository(5)
    await until(async () => (await processesOf(stage.folder(5))).length === 0, 'its processes have ended')
  })

  test('see what was pushed a moment ago', async () => {
    for (let number = 0; number < 20; number++) {
      const { commit: made } = await commit(stage.git, 4, [{ op: 'put', path: 'a', content: `${number}` }])
      expect((await stage.git.readCommit(4, 'main')).sha).toBe(made.sha)
    }
    await stage.git.maintain(4, { isFull: true })
    expect(await stage.git.log(4, { revision: 'main', limit: 100 })).toHaveLength(21)
  })
})

describe('nothing in a folder is run', () => {
  test('neither hooks nor programs named in its config', async () => {
    const mark = stage.work('mark')
    const script = stage.work('evil.sh')
    await writeFile(script, `#!/bin/sh\necho "$0" >>${mark}\nexec "$@"\n`)
    await chmod(script, 0o755)
    const folder = stage.folder(1)
    await mkdir(join(folder, 'hooks'), { recursive: true })
    for (const hook of [
      'pre-receive',
      'update',
      'post-receive',
      'post-update',
      'reference-transaction',
      'proc-receive',
    ]) {
      await writeFile(join(folder, 'hooks', hook), await readFile(script), { mode: 0o755 })
    }
    const config = [
      '[core]',
      'bare = true',
      `hooksPath = ${join(folder, 'hooks')}`,
      `fsmonitor = ${script}`,
      `pager = ${script}`,
    ]
    config.push('[uploadpack]', `packObjectsHook = ${script}`, '[diff]', `external = ${script}`, '[gc]', 'auto = 1')
    config.push('[tar "tar.gz"]', `command = ${script}`, '[diff "x"]', `textconv = ${script}`)
    await writeFile(join(folder, 'config'), config.join('\n'))
    await commit(stage.git, 1, [{ op: 'create', path: '.gitattributes', content: '* diff=x\n' }])
    const server = openServer(stage)
    const path = stage.work('evil-clone')
    await must(['clone', '-q', server.url(1), path])
    await must(['commit', '-q', '--allow-empty', '-m', 'x'], path)
    await must(['push', '-q', 'origin', 'HEAD'], path)
    await server.close()
    await new Response(await stage.git.diff(1, { head: 'main~1' })).text()
    await stage.git.log(1, { revision: 'main', limit: 5, withChanges: true })
    const archive = await stage.git.archive(1, { revision: 'main', format: 'tar.gz' })
    await new Response(await archive.read()).arrayBuffer()
    await stage.git.maintain(1, { isFull: true })
    expect(await Bun.file(mark).exists()).toBe(false)
    await rm(join(folder, 'hooks'), { recursive: true })
  })

  test('and a folder of another owner is read all the same', async () => {
    if (process.getuid?.() !== 0) return
    await must(['--version'])
    const child = Bun.spawn(['chown', '-R', '12345', stage.folder(2)])
    await child.exited
    expect(await stage.git.listRefs(2)).toHaveLength(1)
    const { stream } = await stage.git.advertise(2, 'upload-pack')
    expect(await new Response(stream).text()).toContain('refs/heads/main')
  })
})

describe('what a crash leaves', () => {
  const old = new Date('2020-01-01T00:00:00Z')

  test('in a repository is removed when it is old, and nothing else is', async () => {
    const names = [
      'HEAD.lock',
      'refs/heads/main.lock',
      'packed-refs.lock',
      'objects/pack/tmp_pack_x.pack',
      'objects/tmp_objdir-incoming-x/pack/y',
    ]
    for (const name of names) {
      const path = join(stage.folder(3), name)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, '')
      await utimes(path, old, old)
    }
    await utimes(join(stage.folder(3), 'objects/tmp_objdir-incoming-x'), old, old)
    await writeFile(join(stage.folder(3), 'config.lock'), '')
    const head = await stage.git.resolve(3, 'main')
    expect(await stage.git.cleanStale(3, 3600)).toBe(5)
    expect(await stage.git.cleanStale(3, 3600)).toBe(0)
    expect(await Bun.file(join(stage.folder(3), 'config.lock')).exists()).toBe(true)
    expect(await readdir(join(stage.folder(3), 'objects'))).not.toContain('tmp_objdir-incoming-x')
    expect(await stage.git.resolve(3, 'main')).toEqual(head)
    expect((await stage.git.fsck(3)).isSound).toBe(true)
  })

  test('in the store is removed when it is old', async () => {
    for (const name of ['@creating/9-dead', '@trash/8-dead', '@creating/7-alive']) {
      await mkdir(join(stage.root, name, 'objects'), { recursive: true })
      if (name.endsWith('dead')) await utimes(join(stage.root, name), old, old)
    }
    expect(await stage.git.cleanStore(3600)).toBe(2)
    expect(await readdir(join(stage.root, '@creating'))).toEqual(['7-alive'])
  })

  test('a writer that was killed while it held the lock stops the branch only until then', async () => {
    const lock = join(stage.folder(2), 'refs/heads/main.lock')
    await writeFile(lock, '')
    await utimes(lock, old, old)
    expect(await codeOf(commit(stage.git, 2, [{ op: 'create', path: 'x', content: '' }]))).toBe('head-moved')
    await stage.git.cleanStale(2, 3600)
    await commit(stage.git, 2, [{ op: 'create', path: 'x', content: '' }])
  })

  test('damage is found', async () => {
    const { commit: made } = await commit(stage.git, 4, [{ op: 'create', path: 'damage', content: 'x' }])
    const packs = join(stage.folder(4), 'objects/pack')
    for (const name of await readdir(packs)) if (name.startsWith('pack-')) await rm(join(packs, name))
    const { isSound, problems } = await stage.git.fsck(4)
    expect(isSound).toBe(false)
    expect(problems.join()).toContain(made.sha)
  })
})

test('a git that is missing or too old is named', async () => {
  const fake = stage.work('git-old')
  await writeFile(fake, '#!/bin/sh\necho "git version 2.30.2"\n', { mode: 0o755 })
  const failing = (gitBinary: string) =>
    createGit({ repositoriesDir: stage.root, gitBinary }).catch((error) => error.message)
  expect(await failing(fake)).toBe('git 2.30.2 is older than 2.39')
  expect(await failing('/nonexistent/git')).toContain('not found')
  expect(await failing('/bin/true')).toContain('does not answer as git does')
})
