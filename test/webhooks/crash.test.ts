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
  expect((await client().post('/repos/root/told/hooks', hook)).status).toBe(201)
  const answered: number[] = []
  for (let round = 0; round <= KILLS; round++) {
    const last = Math.floor((ISSUES * (round + 1)) / (KILLS + 1))
    while (answered.length < last) {
      const made = await client().post('/repos/root/told/issues', { title: `n ${answered.length}` })
      expect(made.status).toBe(201)
      answered.push(made.number('number'))
      await client().patch(`/repos/root/told/issues/${made.number('number')}`, { title: `m ${answered.length}` })
    }
    if (round === KILLS) break
    program.kill('SIGKILL')
    await program.exited
    program = await serveProgram(settings)
  }
  const seen = () => new Set(sink.received.map(({ headers }) => headers['x-gitea-delivery']))
  await until(() => seen().size >= 2 * ISSUES, 'all is delivered', 600_000)
  const first = new Map<unknown, { number: number; action: string; body: string }>()
  for (const { headers, json, body } of sink.received) {
    const id = headers['x-gitea-delivery']
    const known = first.get(id)
    // A repeat is the same content under the same id.
    if (known) expect(body).toBe(known.body)
    else first.set(id, { number: Number(json.number), action: String(json.action), body })
  }
  const byIssue = Map.groupBy(first.values(), ({ number }) => number)
  expect([...byIssue.keys()].sort((a, b) => a - b)).toEqual(answered.sort((a, b) => a - b))
  for (const told of byIssue.values()) expect(told.map(({ action }) => action)).toEqual(['opened', 'edited'])
  program.kill('SIGTERM')
  await program.exited
  await sink.close()
  await database.drop()
}, 3_600_000)
