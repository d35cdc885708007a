import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '../harness/client.ts'
import { createBareDatabase } from '../harness/database.ts'
import { type RunningProgram, serveProgram } from '../harness/program.ts'
import { until } from '../harness/until.ts'
import { openSink } from './sink.ts'

const folder = mkdtempSync(join(tmpdir(), 'hearth-hooks-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const ISSUES = Number(process.env.HOOK_ISSUES ?? 300)
const KILLS = Number(process.env.HOOK_KILLS ?? 3)

/** Of all issues that there are, in their order. */
async function listNumbers(client: Client): Promise<number[]> {
  const numbers: number[] = []
  for (let page = 1; ; page++) {
    const { body } = await client.get('/repos/root/told/issues', { state: 'all', limit: 50, page })
    const found = Array.isArray(body) ? body.map((issue) => Number(Object(issue).number)) : []
    if (found.length === 0) return numbers.sort((left, right) => left - right)
    numbers.push(...found)
  }
}

/** `HOOK_ISSUES=10000 HOOK_KILLS=10 bun run test test/webhooks/crash.test.ts` is the long form, by hand: 20,000 events. */
test('a server that is killed again and again loses no delivery, repeats them under their id alone, and keeps their order', async () => {
  const sink = await openSink()
  const database = await createBareDatabase()
  const settings = {
    DATA_DIR: folder,
    DATABASE_URL: database.url,
    ADMIN_USERNAME: 'root',
    ADMIN_PASSWORD: 'open sesame 1',
    WEBHOOK_ALLOWED_HOSTS: 'loopback',
  }
  let program: RunningProgram = await serveProgram(settings)
  const connect = (): Client => createClient({ url: program.url, credential: { basic: 'root:open sesame 1' } })
  const token = await connect().post('/users/root/tokens', { name: 'hooks', scopes: ['all'] })
  const client = () => createClient({ url: program.url, credential: { token: token.string('sha1') } })
  expect((await client().post('/user/repos', { name: 'told', auto_init: true })).status).toBe(201)
  const hook = { type: 'gitea', active: true, events: ['issues'], config: { url: sink.url, content_type: 'json' } }
  const hookId = (await client().post('/repos/root/told/hooks', hook)).number('id')
  const issues = '/repos/root/told/issues'
  const edited: number[] = []
  for (let round = 0; round <= KILLS; round++) {
    const last = Math.floor((ISSUES * (round + 1)) / (KILLS + 1))
    while (edited.length < last) {
      const made = await client().post(issues, { title: `n ${edited.length}` })
      expect(made.status).toBe(201)
      const number = made.number('number')
      expect((await client().patch(`${issues}/${number}`, { title: `m ${number}` })).status).toBe(201)
      edited.push(number)
    }
    if (round === KILLS) break
    // What is on its way when the server dies is committed or rolled back, and nobody is told which.
    const onTheWay = Array.from({ length: 8 }, () =>
      client()
        .post(issues, { title: 'cut' })
        .catch(() => undefined),
    )
    await Bun.sleep(Math.random() * 30)
    program.kill('SIGKILL')
    await program.exited
    await Promise.all(onTheWay)
    program = await serveProgram(settings)
  }
  const there = await listNumbers(client())
  const seen = () => new Set(sink.received.map(({ headers }) => headers['x-gitea-delivery']))
  await until(() => seen().size >= there.length + edited.length, 'all is delivered', 600_000)
  const waiting = () => client().get(`/repos/root/told/hooks/${hookId}/deliveries`, { status: 'waiting' })
  await until(async () => (await waiting()).headers.get('x-total-count') === '0', 'nothing more is to come')
  const first = new Map<unknown, { number: number; action: string; body: string }>()
  for (const { headers, json, body } of sink.received) {
    const id = headers['x-gitea-delivery']
    const known = first.get(id)
    // A repeat is the same content under the same id.
    if (known) expect(body).toBe(known.body)
    else first.set(id, { number: Number(json.number), action: String(json.action), body })
  }
  const byIssue = Map.groupBy(first.values(), ({ number }) => number)
  // Exactly those that exist: none is lost, and of what was rolled back nothing is told.
  expect([...byIssue.keys()].sort((a, b) => a - b)).toEqual(there)
  const whole = new Set(edited)
  for (const [number, told] of byIssue)
    expect(told.map(({ action }) => action)).toEqual(whole.has(number) ? ['opened', 'edited'] : ['opened'])
  program.kill('SIGTERM')
  await program.exited
  await sink.close()
  await database.drop()
}, 3_600_000)
