import { afterAll, expect, test } from 'bun:test'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { startTestService } from '../../harness/service.ts'
import { until } from '../../harness/until.ts'
import { commit, hostRepository, workTree } from './hosted.ts'
import { cloneRequest } from './private-stage.ts'
import { processesWith } from './replica.ts'

/** More than lies between a server and a client that reads nothing: Linux holds 4 MB for one and as little for the other. */
const BYTES = 32_000_000

// Four places for transfers, two of them for one visitor.
const service = await startTestService({ settings: { GIT_MAX_PROCESSES: '6' } })
const owner = await service.createUser()
const repo = await hostRepository(service, owner)
const cwd = await workTree(service.git)
const head = await commit(service.git, cwd, { 'large.bin': crypto.getRandomValues(new Uint8Array(65_536)) })
const noise = Buffer.concat(
  Array.from({ length: BYTES / 64_000 }, () => crypto.getRandomValues(new Uint8Array(64_000))),
)
const heads = [head]
for (const name of ['large.bin', 'other.bin', 'third.bin'])
  heads.push(await commit(service.git, cwd, { [name]: Buffer.concat([noise, Buffer.from(name)]) }))
await service.git(['push', '-q', repo.as(owner), 'main'], { cwd })

const sockets: Socket[] = []
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await service.stop()
})

/** A client that asks, and reads only that there is an answer. */
async function ask(path: string, body?: { headers: Record<string, string>; body: Uint8Array }): Promise<void> {
  const { hostname, port, host } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  sockets.push(socket)
  socket.on('error', () => undefined)
  const fields = Object.entries({ host, ...body?.headers, ...(body && { 'content-length': `${body.body.length}` }) })
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.write(`${body ? 'POST' : 'GET'} ${path} HTTP/1.1\r\n${head}\r\n`)
  if (body) socket.write(body.body)
  await once(socket, 'readable')
  expect(String(socket.read())).toStartWith('HTTP/1.1 200 ')
}

test('thirty clients that read nothing hold no place for Git, and others clone, push and take archives', async () => {
  const path = `/${owner.name}/${repo.name}`
  const asked: Promise<void>[] = []
  for (const name of ['large.bin', 'other.bin', 'third.bin'])
    for (let client = 0; client < 4; client++) asked.push(ask(`${path}/raw/branch/main/${name}`))
  for (const form of ['zip', 'tar.gz'])
    for (const sha of heads.slice(1)) asked.push(ask(`${path}/archive/${sha}.${form}`))
  for (const sha of heads.slice(1))
    for (const options of [['ofs-delta'], ['no-progress'], ['thin-pack'], ['include-tag']])
      asked.push(ask(`${path}.git/git-upload-pack`, cloneRequest(sha, options)))
  await Promise.all(asked)
  expect(sockets).toHaveLength(30)
  const folder = join(service.context.config.repositoriesDir, '')
  await until(
    () => processesWith(folder).every((pid) => processesWith('cat-file --batch').includes(pid)),
    'git has computed all answers',
  )
  await service.git(['clone', '-q', repo.as(owner), 'beside'])
  const next = await commit(service.git, cwd, { 'new.txt': 'new' })
  await service.git(['push', '-q', repo.as(owner), 'main'], { cwd })
  const archive = await fetch(`${service.url}${path}/archive/${next}.zip`)
  expect([archive.status, (await archive.bytes()).length > BYTES]).toEqual([200, true])
  expect(sockets.filter(({ destroyed }) => destroyed)).toEqual([])
}, 120_000)
