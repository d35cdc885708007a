import { afterAll, beforeAll, expect, test } from 'bun:test'
import { loadConfig } from '../../../src/config.ts'
import { type Service, startService } from '../../../src/service.ts'
import { registerRunner } from '../../harness/runner.ts'
import { startTestService, type TestService, type TestUser } from '../../harness/service.ts'
import { until } from '../../harness/until.ts'

/** Two replicas on one database. */
let service: TestService
let other: Service
let owner: TestUser
beforeAll(async () => {
  service = await startTestService()
  const config = loadConfig({
    PORT: '0',
    DATA_DIR: `${service.folder}/data`,
    REPOSITORIES_DIR: `${service.folder}/data/repositories`,
    DATABASE_URL: service.databaseUrl,
    LOG_LEVEL: 'fatal',
  })
  other = await startService(config, { worksJobs: false })
  owner = await service.createUser()
})
afterAll(async () => {
  await other.stop()
  await service.stop()
})

/** A private repository with a secret, whose job a runner has taken. */
async function startJob() {
  const repo = await service.createRepository(owner, { private: true, auto_init: true })
  await owner.client.put(`${repo.path}/actions/secrets/WORD`, { data: 'swordfish' })
  const text = `on: push\njobs: { one: { runs-on: linux, steps: [{ run: "echo \${{ secrets.WORD }}" }] } }\n`
  const path = `${repo.path}/contents/.gitea/workflows/ci.yml`
  expect((await owner.client.post(path, { content: btoa(text), message: 'add workflow' })).status).toBe(201)
  await service.drain()
  const job = (await owner.client.get(`${repo.path}/actions/jobs`)).number('jobs.0.id')
  const runner = await registerRunner(service.url, { owner, at: `${repo.path}/actions/runners` })
  const at = `/api/v1${repo.path}/actions/jobs/${job}/logs/stream`
  return { repo, job, runner, at, take: () => runner.take() }
}

interface Asked {
  at: string
  url?: string
  token?: string | undefined
  after?: string
}

/** Follows as a browser does. */
async function follow({ at, url = service.url, token = owner.token, after }: Asked) {
  const leaving = new AbortController()
  const headers = { authorization: `token ${token}`, ...(after === undefined ? {} : { 'last-event-id': after }) }
  const answer = await fetch(url + at, { headers, signal: leaving.signal })
  const pieces = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return {
    status: answer.status,
    headers: answer.headers,
    leave: () => leaving.abort(),
    /** The next event; undefined at the end. */
    async next(): Promise<Record<string, string> | undefined> {
      while (!text.includes('\n\n')) {
        const piece = await pieces?.read()
        if (!piece || piece.done) return undefined
        text += piece.value
      }
      const end = text.indexOf('\n\n')
      const fields = text
        .slice(0, end)
        .split('\n')
        .map((line) => line.split(/: ?(.*)/s))
      text = text.slice(end + 2)
      return Object.fromEntries(fields.map(([name = '', value = '']) => [name, value]))
    },
  }
}

const TIME = '2026-01-02T03:04:05.6789012Z'

test('rows come masked, as they are stored, from every replica, and the job ends the stream', async () => {
  const { at, take, runner } = await startJob()
  const task = await take()
  await runner.log(task, ['first', 'a swordfish'])
  const streams = [await follow({ at }), await follow({ at, url: other.url })]
  const expectNext = async (event: Record<string, string>) => {
    for (const stream of streams) expect(await stream.next()).toEqual(event)
  }
  for (const { status, headers } of streams) {
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(headers.get('cache-control')).toContain('no-store')
  }
  await expectNext({ retry: '3000' })
  await expectNext({ id: `${task.id}:0:1`, data: `${TIME} first` })
  await expectNext({ id: `${task.id}:0:2`, data: `${TIME} a ***` })
  // Nothing but the message wakes them: a look by the clock would show as a comment.
  for (const row of [2, 3, 4]) {
    await runner.log(task, [`row ${row}`], { index: row })
    await expectNext({ id: `${task.id}:${row}:1`, data: `${TIME} row ${row}` })
  }
  await runner.log(task, [], { index: 5, noMore: true })
  await runner.update(task, { result: 'RESULT_FAILURE', stoppedAt: new Date().toISOString() })
  await expectNext({ id: `${task.id}:end`, event: 'end', data: 'failure' })
  for (const stream of streams) expect(await stream.next()).toBeUndefined()
  const again = await follow({ at, after: `${task.id}:end` })
  expect([again.status, await again.next()]).toEqual([204, undefined])
})

test('who comes again goes on after the row that came last, within what was stored at once too', async () => {
  const { at, take, runner } = await startJob()
  const task = await take()
  await runner.log(task, ['a', 'b', 'c'])
  await runner.log(task, ['d'], { index: 3 })
  await runner.end(task)
  const rest = async (after: string) => {
    const stream = await follow({ at, after })
    const found: string[] = []
    for (let event = await stream.next(); event; event = await stream.next())
      if (event.data) found.push(event.data.replace(`${TIME} `, ''))
    return found
  }
  expect(await rest(`${task.id}:0:1`)).toEqual(['b', 'c', 'd', 'success'])
  expect(await rest(`${task.id}:0:3`)).toEqual(['d', 'success'])
  expect(await rest(`${task.id}:3:1`)).toEqual(['success'])
  for (const strange of ['', 'x', `${Number(task.id) + 1}:3:1`, `${task.id}:-1:0`, `${task.id}:9999999999:1`])
    expect(await rest(strange)).toEqual(['a', 'b', 'c', 'd', 'success'])
})

test('it is for whoever may read the log', async () => {
  const { at, job, take, runner } = await startJob()
  const stranger = await service.createUser()
  const statusOf = async (asked: Asked) => {
    const stream = await follow(asked)
    stream.leave()
    return stream.status
  }
  expect(await statusOf({ at })).toBe(404)
  const task = await take()
  expect((await fetch(service.url + at)).status).toBe(401)
  expect(await statusOf({ at, token: stranger.token })).toBe(404)
  expect(await statusOf({ at, token: 'a'.repeat(40) })).toBe(401)
  const elsewhere = await service.createRepository(owner)
  expect(await statusOf({ at: `/api/v1${elsewhere.path}/actions/jobs/${job}/logs/stream` })).toBe(404)
  expect(await statusOf({ at: at.replace(String(job), 'x') })).toBe(404)
  expect(await statusOf({ at })).toBe(200)
  await runner.end(task)
})

test('what earlier runners said is read by the number of the attempt', async () => {
  const { at, take, runner, repo } = await startJob()
  const first = await take()
  await runner.log(first, ['of the first'])
  await runner.end(first, 'RESULT_FAILURE')
  await service.drain()
  const run = (await owner.client.get(`${repo.path}/actions/runs`)).number('workflow_runs.0.id')
  expect((await owner.client.post(`${repo.path}/actions/runs/${run}/rerun`, {})).status).toBe(201)
  await service.drain()
  const second = await take()
  await runner.log(second, ['of the second'])
  const logs = at.replace('/api/v1', '').replace(/\/stream$/, '')
  const text = async (query: string) => (await owner.client.get(`${logs}${query}`)).text
  expect(await text('?attempt=1')).toStartWith(`${TIME} of the first\n`)
  expect([await text(''), await text('?attempt=2')]).toEqual(Array(2).fill(`${TIME} of the second\n`))
  for (const attempt of ['0', '3', '-1', '999999999999999'])
    expect([attempt, (await owner.client.get(`${logs}?attempt=${attempt}`)).status]).toEqual([attempt, 404])
  const stream = await follow({ at: `${at}?attempt=1` })
  await stream.next()
  expect(await stream.next()).toEqual({ id: `${first.id}:0:1`, data: `${TIME} of the first` })
  stream.leave()
  await runner.end(second)
})

test('a reader has ten streams at once, and a place again with the end of one', async () => {
  const { at, take, runner } = await startJob()
  const task = await take()
  const streams = await Promise.all(Array.from({ length: 10 }, () => follow({ at })))
  expect(streams.map(({ status }) => status)).toEqual(Array(10).fill(200))
  const refused = await follow({ at })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10'])
  expect((await follow({ at, token: service.admin.token })).status).toBe(200)
  streams[0]?.leave()
  await until(async () => {
    const { status, leave } = await follow({ at })
    leave()
    return status === 200
  }, 'a place is free again')
  await runner.end(task)
  for (const stream of streams.slice(1)) while (await stream.next());
  await until(async () => (await follow({ at })).status === 200, 'all places are free again')
})
