import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { connect } from '../../db/connect.ts'
import { ConfigError } from '../../src/config.ts'
import { errorCode } from '../../src/kernel/thrown.ts'
import { canEnter, databaseAccount } from '../../src/postgres/account.ts'
import { type Cluster, createCluster } from '../../src/postgres/cluster.ts'
import { startEmbedded, startServer } from '../../src/postgres/embedded.ts'
import { SHARED_PLACE } from '../../src/postgres/place.ts'
import { databasePrograms } from '../../src/postgres/programs.ts'
import { findServer } from '../../src/postgres/server-file.ts'
import { until } from '../harness/until.ts'

const isRoot = process.getuid?.() === 0
let home: string
let dataDir: string
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'hearth-embedded-'))
  chmodSync(home, 0o711)
  dataDir = join(home, 'data')
})
afterAll(async () => {
  const left = findServer(join(dataDir, 'postgres', 'data'))
  if (left !== undefined) process.kill(left.pid, 'SIGKILL')
  rmSync(home, { recursive: true, force: true })
})

/** Another process that holds the server of a data folder. */
async function hold(folder: string, user: { uid?: number; gid?: number } = {}) {
  const child = spawn(process.execPath, [join(import.meta.dir, 'holder.ts'), folder], {
    ...user,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (chunk) => resolve(String(chunk).trim()))
    child.once('exit', (code) => reject(new Error(`the holder ended with ${code}`)))
  })
  return {
    url,
    kill() {
      child.kill('SIGKILL')
      return exited
    },
    stop() {
      child.stdin.end()
      return exited
    },
  }
}

async function query<Row extends object>(url: string, text: string): Promise<Row[]> {
  const sql = connect(url, { max: 1, onnotice: () => undefined })
  try {
    return await sql.unsafe<Row[]>(text)
  } finally {
    await sql.end()
  }
}

const server = () => findServer(join(dataDir, 'postgres', 'data'))

test('a server is made on a socket that only its user reaches, with a password that nobody else can read, and writes to the disk', async () => {
  const { url, stop } = await startEmbedded(dataDir)
  const [row] = await query<{ addresses: string; sockets: string; fsync: string }>(
    url,
    `select current_setting('listen_addresses') as addresses, current_setting('unix_socket_directories') as sockets,
       current_setting('fsync') as fsync`,
  )
  expect(row).toEqual({ addresses: '', sockets: join(dataDir, 'postgres'), fsync: 'on' })
  expect(statSync(join(dataDir, 'postgres')).mode & 0o077).toBe(0)
  const file = join(dataDir, 'postgres', 'password')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(file, 'utf8').trim()).toHaveLength(48)
  await expect(query(url.replace(/:[0-9a-f]{48}@/, ':wrong@'), 'select 1')).rejects.toThrow(
    'password authentication failed',
  )
  await stop()
  expect(server()).toBeUndefined()
})

test('what a killed process left running is taken over, and stopped in the end', async () => {
  const killed = await hold(dataDir)
  const before = server()
  await killed.kill()
  const { url, stop } = await startEmbedded(dataDir)
  expect(url).toBe(killed.url)
  expect(server()).toEqual(before)
  await stop()
  expect(server()).toBeUndefined()
})

test('one that was told to stop by somebody else, such as systemd, is stopped all the same', async () => {
  const { url, stop } = await startEmbedded(dataDir)
  // It would wait for this session to end.
  const sql = connect(url, { max: 1, onnotice: () => undefined })
  await sql`select 1`
  process.kill(server()?.pid ?? 0, 'SIGTERM')
  const refusal = () => query(url, 'select 1').then(String, errorCode)
  await until(async () => (await refusal()) === '57P03', 'it takes nobody any more')
  await stop()
  expect(server()).toBeUndefined()
  await sql.end()
})

test('after the server itself was killed, what was committed is there again', async () => {
  const first = await startEmbedded(dataDir)
  await query(first.url, 'create table kept (id int); insert into kept values (7)')
  process.kill(server()?.pid ?? 0, 'SIGKILL')
  const second = await startEmbedded(dataDir)
  expect(await query(second.url, 'select id from kept')).toEqual([{ id: 7 }])
  await second.stop()
})

test('a left-over file that names a living process of somebody else does not stand in the way', async () => {
  const file = join(dataDir, 'postgres', 'data', 'postmaster.pid')
  const folder = join(dataDir, 'postgres')
  // Of the same user: of a process that it may not signal, PostgreSQL itself knows that it is no server.
  const stranger = spawn('sleep', ['60'], { ...databaseAccount(), stdio: 'ignore' })
  const text = `${stranger.pid}\n${dirname(file)}\n1\n5432\n${folder}\n\n\nready\n`
  writeFileSync(file, text)
  writeFileSync(join(folder, '.s.PGSQL.5432.lock'), text)
  const { stop } = await startEmbedded(dataDir)
  expect(server()?.pid).not.toBe(stranger.pid)
  await stop()
  stranger.kill()
})

test('where the path of a socket would be too long, the server is on loopback', async () => {
  const deep = join(home, 'deep'.repeat(25))
  const { url, stop } = await startEmbedded(deep)
  expect(await query(url, `select current_setting('listen_addresses') as addresses`)).toEqual([
    { addresses: '127.0.0.1' },
  ])
  await stop()
})

test('two processes share one server, and the last one stops it', async () => {
  const [one, other] = await Promise.all([hold(dataDir), hold(dataDir)])
  expect(one.url).toBe(other.url)
  const user = connect(other.url, { max: 1 })
  await user`select 1`
  await one.stop()
  expect([...(await user`select 1 as answer`)]).toEqual([{ answer: 1 }])
  await user.end()
  await other.stop()
  expect(server()).toBeUndefined()
})

test.if(isRoot)('a data folder that only root may enter works: programs and data lie elsewhere', async () => {
  const closed = join(home, 'closed')
  mkdirSync(closed, { mode: 0o700 })
  const { url, stop } = await startEmbedded(join(closed, 'data'))
  const place = readFileSync(join(closed, 'data', 'postgres.place'), 'utf8').split('\n')[0] ?? ''
  try {
    expect(await query(url, 'select 1 as answer')).toEqual([{ answer: 1 }])
    await stop()
    expect(place).toStartWith(`${SHARED_PLACE}/`)
    expect(statSync(place).mode & 0o077).toBe(0)
    expect(existsSync(join(closed, 'data', 'postgres'))).toBe(false)
    // A second start finds the same place.
    const again = await startEmbedded(join(closed, 'data'))
    expect(findServer(join(place, 'data'))?.isReady).toBe(true)
    await again.stop()
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
})

const account = isRoot ? databaseAccount() : undefined

// Bun may be installed where only root gets, too.
test.if(account !== undefined && [import.meta.dir, process.execPath].every((path) => canEnter(account, path)))(
  'an ordinary user needs nothing special',
  async () => {
    const own = join(home, 'own')
    mkdirSync(own)
    chownSync(own, account?.uid ?? 0, account?.gid ?? 0)
    const holder = await hold(join(own, 'data'), account)
    expect(await query(holder.url, 'select 1 as answer')).toEqual([{ answer: 1 }])
    expect(statSync(join(own, 'data')).mode & 0o777).toBe(0o700)
    await holder.stop()
    expect(findServer(join(own, 'data', 'postgres', 'data'))).toBeUndefined()
  },
)

/** As `docker run --user 54321`. Only root can be another user. */
const nameless = { uid: 54_321, gid: 54_321 }

describe.skipIf(!isRoot)('a user without a name', () => {
  let cluster: Cluster
  beforeAll(() => {
    const folder = join(home, 'nameless')
    mkdirSync(folder)
    chownSync(folder, nameless.uid, nameless.gid)
    const programs = databasePrograms(nameless)
    cluster = { folder: join(folder, 'postgres'), programs, account: nameless, isDurable: false }
  })

  test('is told before anything is made what a database of its own takes', () => {
    let refusal: unknown
    try {
      createCluster(cluster)
    } catch (error) {
      refusal = error
    }
    if (!(refusal instanceof ConfigError)) throw refusal
    expect(refusal.fault).toEndWith('the user with the number 54321 has none')
    expect(refusal.remedy).toContain('hearth:x:54321:54321:')
    expect(refusal.remedy).toContain('DATABASE_URL')
    expect(readdirSync(dirname(cluster.folder))).toEqual([])
  })

  test('runs one whose files were made before', async () => {
    const maker = { ...cluster, folder: join(home, 'named'), account: databaseAccount() }
    createCluster(maker)
    renameSync(maker.folder, cluster.folder)
    expect(spawnSync('chown', ['-R', `${nameless.uid}:${nameless.gid}`, cluster.folder]).status).toBe(0)
    const { url, stop } = await startServer(cluster)
    expect(await query(url, 'select 1 as answer')).toEqual([{ answer: 1 }])
    await stop()
  })
})
