import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { findWrongCounters } from '../../src/features/admin/statistics.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

const MOST = 1_000

let service: TestService
let owner: TestUser
/** Two repositories of one owner. */
let one: TestRepository
let two: TestRepository
beforeAll(async () => {
  service = await startTestService({ settings: { ATTACHMENT_MAX_OWNER_BYTES: String(MOST) } })
})
beforeEach(async () => {
  owner = await service.createUser()
  one = await service.createRepository(owner)
  two = await service.createRepository(owner)
})
afterAll(() => service.stop())

async function releaseOf({ path }: TestRepository, tag = 'v1'): Promise<string> {
  return `${path}/releases/${(await owner.client.post(`${path}/releases`, { tag_name: tag })).number('id')}`
}
const issueOf = async ({ path }: TestRepository): Promise<string> =>
  `${path}/issues/${(await owner.client.post(`${path}/issues`, { title: 'with files' })).number('number')}`
const commentOf = async (repo: TestRepository): Promise<string> =>
  `${repo.path}/issues/comments/${(await owner.client.post(`${await issueOf(repo)}/comments`, { body: 'x' })).number('id')}`

/** A form hides how large its file is until it has come. */
function send(place: string, size: number) {
  const body = new FormData()
  body.set('attachment', new File(['x'.repeat(size)], 'file.txt'))
  return owner.client.request(`${place}/assets`, { method: 'POST', body })
}
const stored = () => Array.fromAsync(service.context.objects.list('attachments')).then((all) => all.length)
const counted = async ({ owner: name, name: repo }: TestRepository): Promise<number> => {
  const [row] = await service.context.sql`select attachment_bytes::int as bytes from repository_counters
    join repositories r on r.id = repository_id join users u on u.id = r.owner_id where u.name = ${name} and r.name = ${repo}`
  return row?.bytes
}

test('files of releases, issues and comments of all repositories of an owner count together', async () => {
  const before = await stored()
  const issue = await issueOf(two)
  for (const place of [await releaseOf(one), issue, await commentOf(two)])
    expect((await send(place, 300)).status).toBe(201)
  const refused = await send(issue, 101)
  expect(refused.status).toBe(413)
  expect(refused.string('message')).toBe(
    "the owner's repositories may hold 1000 bytes of attached files (ATTACHMENT_MAX_OWNER_BYTES)",
  )
  expect((await owner.client.get(`${issue}/assets`)).body).toHaveLength(1)
  expect(await stored()).toBe(before + 3)
  expect([await counted(one), await counted(two)]).toEqual([300, 600])
  expect((await send(issue, 100)).status).toBe(201)
  expect((await send(issue, 0)).status).toBe(201)
})

test('of files that come at one instant as many are kept as there is room for', async () => {
  const before = await stored()
  const places = [await releaseOf(one), await issueOf(one), await releaseOf(two), await commentOf(two)]
  const answers = await Promise.all([...places, ...places].map((place) => send(place, 300)))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 413, 413, 413, 413, 413])
  expect(await stored()).toBe(before + 3)
  expect((await counted(one)) + (await counted(two))).toBe(900)
})

test('what says itself that it is too large is refused before it comes', async () => {
  const release = await releaseOf(one)
  let asked = 0
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        asked += 1
        if (asked > 64) controller.close()
        else controller.enqueue(new Uint8Array(1024 * 1024))
      },
    },
    { highWaterMark: 0 },
  )
  const headers = { 'content-length': String(64 * 1024 * 1024), authorization: `token ${owner.token}` }
  const url = `${service.url}/api/v1${release}/assets?name=large.bin`
  const writes: string[] = []
  const put = service.context.objects.put
  service.context.objects.put = (key, ...rest) => {
    writes.push(key)
    return put(key, ...rest)
  }
  try {
    const status = await fetch(url, { method: 'POST', headers, body }).then(
      (answer) => answer.status,
      // The server ends the connection while we send.
      () => 413,
    )
    expect(status).toBe(413)
    expect(writes).toEqual([])
  } finally {
    service.context.objects.put = put
  }
})

test('what is deleted makes room: a file, a release, an issue, a repository', async () => {
  const release = await releaseOf(one)
  const made = await send(release, MOST)
  expect(made.status).toBe(201)
  expect((await send(await issueOf(two), 1)).status).toBe(413)
  expect((await owner.client.delete(`${release}/assets/${made.number('id')}`)).status).toBe(204)
  const issue = await issueOf(two)
  for (const place of [release, issue]) {
    expect((await send(place, MOST)).status).toBe(201)
    expect((await send(await commentOf(one), 1)).status).toBe(413)
    expect((await owner.client.delete(place)).status).toBe(204)
  }
  expect([await counted(one), await counted(two)]).toEqual([0, 0])
  expect((await send(await commentOf(one), MOST)).status).toBe(201)
  expect((await owner.client.delete(one.path)).status).toBe(204)
  expect((await send(await commentOf(two), MOST)).status).toBe(201)
})

test('another owner has room of their own; a repository that goes to somebody takes its bytes along', async () => {
  expect((await send(await releaseOf(one), MOST)).status).toBe(201)
  expect((await owner.client.post('/orgs', { username: `org-${owner.name}` })).status).toBe(201)
  const transfer = { new_owner: `org-${owner.name}` }
  expect((await owner.client.post(`${one.path}/transfer`, transfer)).status).toBe(202)
  expect((await send(await releaseOf(two), MOST)).status).toBe(201)
  const moved = { ...one, path: `/repos/org-${owner.name}/${one.name}` }
  expect((await send(await releaseOf(moved, 'v2'), 1)).status).toBe(413)
})

test('the counts are the sums of the files, whatever was deleted', async () => {
  await send(await releaseOf(one), 10)
  const wrong = () => Array.fromAsync(findWrongCounters(service.context.db, AbortSignal.timeout(600_000)))
  expect(await wrong()).toEqual([])
  await service.context.sql`update repository_counters set attachment_bytes = attachment_bytes + 1`
  expect((await wrong()).every(({ column }) => column === 'attachment_bytes')).toBe(true)
  expect((await service.admin.client.post('/admin/cron/check_repo_stats')).status).toBe(204)
  await service.drain()
  expect(await wrong()).toEqual([])
  expect(await counted(one)).toBe(10)
})
