import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestService, type TestUser } from '../../harness/service.ts'
import { until } from '../../harness/until.ts'
import { type OtherServer, startOtherServer } from '../mirrors/other-server.ts'
import { startReplica } from '../transport/replica.ts'
import { json, pretendFamily } from './fake-family.ts'

/** More of them by hand: `CRASH_ROUNDS=20 bun test ...`. Each waits 20 s for the lease of the killed server to end. */
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 1)
const SETTINGS = { MIGRATIONS_ALLOWED_HOSTS: 'loopback' }
const COUNT = 400
const FILES = 20
const FILE_BYTES = 300_000

let service: TestService
let other: OtherServer
let alice: TestUser
beforeAll(async () => {
  service = await startTestService({ settings: SETTINGS })
  other = await startOtherServer(service.folder)
  alice = await service.createUser('alice')
  await other.create('them/origin')
})
afterAll(async () => {
  await other.stop()
  await service.stop()
})

test(
  'a server killed in the middle of a migration goes on where it was, and nothing comes twice',
  async () => {
    const fake = pretendFamily(other)
    const at = { created_at: '2020-01-02T03:04:05Z', updated_at: '2020-01-02T03:04:06Z' }
    const numbers = Array.from({ length: COUNT }, (_, index) => index + 1)
    const labels = numbers.slice(0, 40).map((id) => ({ id, name: `label ${id}` }))
    const issues = numbers.map((number) => ({ number, title: 'x', labels: [labels[number % 40]], ...at }))
    const comments = numbers.map((id) => ({ id, body: 'y', issue_url: `/them/origin/issues/${id}`, ...at }))
    /** Where a server is killed: while it waits for the page, or at any moment behind that. */
    let stopAt = 0
    const reached = { wait: Promise.withResolvers<void>() }
    const paged =
      (rows: readonly unknown[]) =>
      async (page: number): Promise<Response> => {
        if (stopAt > 0 && --stopAt === 0) {
          reached.wait.resolve()
          // Half of the rounds die before the answer.
          if (Math.random() < 0.5) await new Promise(() => {})
        }
        return json(rows.slice((page - 1) * 50, page * 50))
      }
    fake.content = { labels, issues: paged(issues), 'issues/comments': paged(comments) }
    const body = {
      clone_addr: other.url('them/origin'),
      service: 'hearth',
      repo_name: 'copy',
      issues: true,
      labels: true,
    }
    const id = (await alice.client.post('/repos/migrate', body)).number('id')
    for (let round = 0; round < ROUNDS; round++) {
      reached.wait = Promise.withResolvers<void>()
      stopAt = 4
      const replica = await startReplica(service, SETTINGS)
      await reached.wait.promise
      await Bun.sleep(Math.random() * 100)
      await replica.kill()
    }
    stopAt = 0
    const last = await startReplica(service, SETTINGS)
    const isDone = async () => (await alice.client.get('/repos/alice/copy/migration')).string('status') === 'done'
    await until(isDone, 'the next server ends it', 120_000)
    await last.stop()
    const [counts] = await service.context.sql`select
      (select count(*)::int from issues where repository_id = ${id}) as issues,
      (select count(*)::int from labels where repository_id = ${id}) as labels,
      (select count(*)::int from issue_labels l join issues i on i.id = l.issue_id where repository_id = ${id}) as links,
      (select count(*)::int from comments c join issues i on i.id = c.issue_id where repository_id = ${id}) as comments,
      (select sum(comments_count)::int from issues where repository_id = ${id}) as counted,
      (select open_issues_count from repository_counters where repository_id = ${id}) as open`
    expect({ ...counts }).toEqual({
      issues: COUNT,
      labels: 40,
      links: COUNT,
      comments: COUNT,
      counted: COUNT,
      open: COUNT,
    })
  },
  120_000 + ROUNDS * 120_000,
)

test(
  'a server killed in the middle of files of releases goes on, and each file comes once and whole',
  async () => {
    const fake = pretendFamily(other)
    const family = other.answer
    await other.inside('them/origin', 'tag', 'v1', 'main')
    const contentOf = (name: string) => Buffer.alloc(FILE_BYTES, `${name};`)
    const assets = Array.from({ length: FILES }, (_, index) => ({
      ...{ id: index + 1, name: `file${index}`, size: FILE_BYTES },
      browser_download_url: `http://127.0.0.1:${other.port}/files/file${index}`,
    }))
    fake.content = { releases: [{ tag_name: 'v1', assets }] }
    let stopAt = 0
    const reached = { wait: Promise.withResolvers<void>() }
    other.answer = (request) => {
      const [, name] = /^\/files\/(.+)$/.exec(new URL(request.url).pathname) ?? []
      if (name === undefined) return family?.(request)
      const content = contentOf(name)
      if (stopAt === 0 || --stopAt > 0) return new Response(content)
      reached.wait.resolve()
      if (Math.random() < 0.5) return new Response(content)
      // Half of the rounds die in the middle of a file.
      return new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(content.subarray(0, FILE_BYTES / 2)),
          pull: () => new Promise(() => {}),
        }),
      )
    }
    const body = { clone_addr: other.url('them/origin'), service: 'hearth', repo_name: 'files', releases: true }
    expect((await alice.client.post('/repos/migrate', body)).status).toBe(201)
    for (let round = 0; round < ROUNDS; round++) {
      reached.wait = Promise.withResolvers<void>()
      stopAt = 4
      const replica = await startReplica(service, SETTINGS)
      await reached.wait.promise
      await Bun.sleep(Math.random() * 50)
      await replica.kill()
    }
    stopAt = 0
    const last = await startReplica(service, SETTINGS)
    const isDone = async () => (await alice.client.get('/repos/alice/files/migration')).string('status') === 'done'
    await until(isDone, 'the next server ends it', 120_000)
    await last.stop()
    const release = (await alice.client.get('/repos/alice/files/releases/tags/v1')).number('id')
    const shown = await alice.client.get(`/repos/alice/files/releases/${release}/assets`)
    const found: { name: string; browser_download_url: string }[] = Array.isArray(shown.body) ? shown.body : []
    expect(found.map(({ name }) => name)).toEqual(assets.map(({ name }) => name))
    for (const { name, browser_download_url } of found) {
      const bytes = await (await fetch(new URL(new URL(browser_download_url).pathname, service.url))).bytes()
      expect([name, contentOf(name).equals(bytes)]).toEqual([name, true])
    }
  },
  120_000 + ROUNDS * 120_000,
)
