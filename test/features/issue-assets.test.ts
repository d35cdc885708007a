import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'
import { recordStatements } from '../harness/statements.ts'
import { openSink } from '../webhooks/sink.ts'

let service: TestService
let owner: TestUser
let writer: TestUser
/** Opened the issue and wrote a comment, without write access. */
let poster: TestUser
let repo: TestRepository
beforeAll(async () => {
  const settings = { MAX_OWNED: '12', ATTACHMENT_MAX_SIZE: '1MiB', WEBHOOK_ALLOWED_HOSTS: 'loopback' }
  service = await startTestService({ settings })
  owner = await service.createUser()
  writer = await service.createUser()
  poster = await service.createUser()
  repo = await openRepository()
})
afterAll(() => service.stop())

async function openRepository(option: { private?: boolean } = {}): Promise<TestRepository> {
  const made = await service.createRepository(owner, option)
  await owner.client.put(`${made.path}/collaborators/${writer.name}`, { permission: 'write' })
  return made
}

const makeIssue = async (user = poster, at = repo): Promise<string> => {
  const made = await user.client.post(`${at.path}/issues`, { title: 'with files' })
  return `${at.path}/issues/${made.number('number')}`
}
async function makeComment(user = writer, at = repo): Promise<string> {
  const made = await user.client.post(`${await makeIssue(owner, at)}/comments`, { body: 'with files' })
  return `${at.path}/issues/comments/${made.number('id')}`
}

function form(name: string, content: string | Uint8Array<ArrayBuffer> = 'x', field = 'attachment'): FormData {
  const data = new FormData()
  data.set(field, new File([content], name))
  return data
}
const upload = (client: TestUser['client'], place: string, body: BodyInit = form('a.txt'), name?: string) =>
  client.request(`${place}/assets`, { method: 'POST', body, query: name === undefined ? {} : { name } })

const load = (address: string, token?: string) =>
  fetch(new URL(new URL(address, service.url).pathname, service.url), {
    headers: token === undefined ? {} : { authorization: `token ${token}` },
  })
const stored = () =>
  Array.fromAsync(service.context.objects.list('attachments')).then((all) => all.map(({ key }) => key).sort())

/** Removes the bytes of what was deleted. */
async function collect(): Promise<void> {
  expect((await service.admin.client.post('/admin/cron/remove_deleted_attachments')).status).toBe(204)
  await service.drain()
}

async function tokenOf(user: TestUser, scopes: string[]): Promise<string> {
  const basic = service.client({ basic: `${user.name}:${user.password}` })
  const made = await basic.post(`/users/${user.name}/tokens`, { name: crypto.randomUUID(), scopes })
  return made.string('sha1')
}

describe.each([
  ['issue', makeIssue],
  ['comment', makeComment],
] as const)('files of an %s', (kind, makePlace) => {
  const missing = { status: 404, message: `no such attachment in ${kind}` }
  const refusalOf = (answer: Awaited<ReturnType<typeof upload>>) => ({
    status: answer.status,
    message: answer.string('message'),
  })

  test('are added, shown, renamed, sent and deleted', async () => {
    const place = await makePlace()
    expect((await service.anonymous.get(`${place}/assets`)).body).toEqual([])
    const made = await upload(writer.client, place, form('notes.txt', 'hello notes\n'))
    expect([made.status, made.body]).toMatchObject([201, { name: 'notes.txt', size: 12, download_count: 0 }])
    const at = `${place}/assets/${made.number('id')}`
    expect((await service.anonymous.get(at)).body).toEqual(made.body)
    expect((await service.anonymous.get(`${place}/assets`)).body).toEqual([made.body])
    const sent = await load(made.string('browser_download_url'))
    expect([sent.status, await sent.text()]).toEqual([200, 'hello notes\n'])
    expect(sent.headers.get('content-disposition')).toBe('inline; filename=notes.txt')
    const below = await load(`/${repo.owner}/${repo.name}/attachments/${made.string('uuid')}`)
    expect(await below.text()).toBe('hello notes\n')
    expect((await service.anonymous.get(at)).number('download_count')).toBe(2)
    const renamed = await owner.client.patch(at, { name: 'better.log' })
    expect([renamed.status, renamed.body]).toMatchObject([201, { name: 'better.log', download_count: 2 }])
    expect((await owner.client.patch(at, { name: '' })).body).toMatchObject({ name: 'better.log' })
    const gone = await owner.client.delete(at)
    expect([gone.status, gone.text]).toEqual([204, ''])
    for (const answer of [await owner.client.get(at), await owner.client.delete(at), await owner.client.patch(at, {})])
      expect(refusalOf(answer)).toEqual(missing)
    const absent = await load(made.string('browser_download_url'))
    expect([absent.status, await absent.text()]).toEqual([404, 'Not Found\n'])
  })

  test('are shown wherever it is shown, and change its tag', async () => {
    const place = await makePlace()
    const one = await owner.client.get(place)
    const list =
      kind === 'issue' ? `${repo.path}/issues` : `${one.string('issue_url').replace(/^.*\/\/[^/]*/, '/repos')}/comments`
    const before = await owner.client.get(list)
    const made = await upload(writer.client, place)
    const after = await owner.client.get(place)
    expect(after.body).toMatchObject({ assets: [made.body] })
    expect(after.headers.get('etag')).not.toBe(one.headers.get('etag'))
    expect(after.string('updated_at') >= one.string('updated_at')).toBe(true)
    const shown = await owner.client.get(list)
    expect(shown.body).toEqual(expect.arrayContaining([after.body]))
    expect(shown.headers.get('etag')).not.toBe(before.headers.get('etag'))
    // The list of the files has a tag too.
    const files = await owner.client.get(`${place}/assets`)
    const again = await owner.client.request(`${place}/assets`, {
      headers: { 'if-none-match': files.headers.get('etag') ?? '' },
    })
    expect(again.status).toBe(304)
    await owner.client.patch(`${place}/assets/${made.number('id')}`, { name: 'b.txt' })
    expect((await owner.client.get(`${place}/assets`)).headers.get('etag')).not.toBe(files.headers.get('etag'))
    expect((await owner.client.get(place)).headers.get('etag')).not.toBe(after.headers.get('etag'))
  })

  test.each([
    ['../../etc/passwd.txt', 201, 'passwd.txt'],
    ['UPPER.TXT', 201, 'UPPER.TXT'],
    ['"quoted" \u00fc\ud83d\ude00.txt', 201, '"quoted" \u00fc\ud83d\ude00.txt'],
    ["'; drop table attachments; --.txt", 201, "'; drop table attachments; --.txt"],
    ['run.exe', 422, undefined],
    ['page.html', 422, undefined],
    ['Makefile', 422, undefined],
    ['a.txt.exe', 422, undefined],
    [`${'a'.repeat(252)}.txt`, 422, undefined],
    ['a\u202etxt.exe.txt', 422, undefined],
    ['a\r\nset-cookie: x=1.txt', 422, undefined],
    ['a\u0000.txt', 422, undefined],
    ['folder/', 400, undefined],
  ])('may be called %j: %d', async (name, status, kept) => {
    const place = await makePlace()
    const before = await stored()
    const made = await upload(writer.client, place, form('x.txt'), name)
    expect(made.status).toBe(status)
    if (kept !== undefined) return expect(made.string('name')).toBe(kept)
    expect((await owner.client.get(`${place}/assets`)).body).toEqual([])
    expect(await stored()).toEqual(before)
    const named = await upload(writer.client, place)
    const change = await owner.client.patch(`${place}/assets/${named.number('id')}`, { name })
    expect(change.status).toBe(422)
    expect((await owner.client.get(`${place}/assets`)).body).toMatchObject([{ name: 'a.txt' }])
  })

  test.each([
    ['page.txt', '<html><script>alert(1)</script></html>', 'text/plain; charset=utf-8', 'inline; filename=page.txt'],
    ['image.svg', '<svg onload="alert(1)"/>', 'text/plain; charset=utf-8', 'inline; filename=image.svg'],
    ['doc.txt', '%PDF-1.7', 'application/pdf', 'attachment; filename=doc.txt'],
    ['empty.txt', '', 'text/plain; charset=utf-8', 'inline; filename=empty.txt'],
  ])('%s can do nothing in a browser', async (name, content, type, disposition) => {
    const made = await upload(writer.client, await makePlace(), form(name, content))
    const { headers } = await load(made.string('browser_download_url'))
    expect([headers.get('content-type'), headers.get('content-disposition')]).toEqual([type, disposition])
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; style-src 'unsafe-inline'; sandbox")
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('that are too large, broken or not there are refused, and leave nothing', async () => {
    const place = await makePlace()
    const before = await stored()
    const large = new Uint8Array(1024 * 1024 + 1)
    expect((await upload(owner.client, place, form('large.txt', large))).status).toBe(413)
    expect((await upload(owner.client, place, form('a.txt', 'x', 'other'))).status).toBe(400)
    const send = (type: string, body: string) =>
      owner.client.request(`${place}/assets`, { method: 'POST', body, headers: { 'content-type': type } })
    expect((await send('application/json', '{}')).status).toBe(400)
    expect((await send('multipart/form-data; boundary=b', 'nothing of a form')).status).toBe(400)
    const made = await upload(owner.client, place)
    expect((await owner.client.patch(`${place}/assets/${made.number('id')}`, { name: 7 })).status).toBe(422)
    expect((await upload(owner.client, `${place}999999`)).status).toBe(404)
    expect((await upload(owner.client, `${place}x`)).status).toBe(404)
    for (const id of ['99999999', 'x', '-1', '9'.repeat(30)])
      expect(refusalOf(await owner.client.get(`${place}/assets/${id}`))).toEqual(missing)
    expect(await stored()).toHaveLength(before.length + 1)
  })

  test('are as many as MAX_OWNED says, also of requests at one instant', async () => {
    const place = await makePlace()
    const before = await stored()
    const made = await Promise.all(Array.from({ length: 15 }, () => upload(owner.client, place)))
    expect(made.map(({ status }) => status).sort()).toEqual([...Array(12).fill(201), 422, 422, 422])
    const refused = made.find(({ status }) => status === 422)
    expect(refused?.string('message')).toEndWith('(MAX_OWNED)')
    expect((await owner.client.get(`${place}/assets`)).body).toHaveLength(12)
    expect(await stored()).toHaveLength(before.length + 12)
  })

  test('are those of one place: the address of another leads nowhere', async () => {
    const place = await makePlace()
    const id = (await upload(owner.client, place)).number('id')
    const other = await makePlace()
    const elsewhere = place.replace(repo.path, (await openRepository()).path)
    const otherKind = await (kind === 'issue' ? makeComment() : makeIssue())
    for (const at of [other, elsewhere, otherKind].map((one) => `${one}/assets/${id}`)) {
      expect((await owner.client.get(at)).status).toBe(404)
      expect((await owner.client.patch(at, { name: 'b.txt' })).status).toBe(404)
      expect((await owner.client.delete(at)).status).toBe(404)
    }
    expect((await owner.client.get(`${place}/assets/${id}`)).body).toMatchObject({ name: 'a.txt' })
  })

  test('are read by every address by those who may read the issue, and by tokens for issues', async () => {
    const at = await openRepository()
    const place = await makePlace(owner, at)
    const made = await upload(owner.client, place)
    const paths = [`${place}/assets`, `${place}/assets/${made.number('id')}`]
    const pages = [`/attachments/${made.string('uuid')}`, `/${at.owner}/${at.name}/attachments/${made.string('uuid')}`]
    const statuses = async (user: TestUser | undefined) => {
      const client = user?.client ?? service.anonymous
      const answers = [...paths.map((path) => client.get(path)), ...pages.map((page) => load(page, user?.token))]
      return (await Promise.all(answers)).map(({ status }) => status)
    }
    const page = pages[0] ?? ''
    const [forIssues, forCode, publicOnly] = [
      await tokenOf(writer, ['read:issue']),
      await tokenOf(writer, ['read:repository']),
      await tokenOf(writer, ['public-only', 'read:issue']),
    ]
    const byToken = async () =>
      Promise.all([forIssues, forCode, publicOnly].map(async (token) => (await load(page, token)).status))
    for (const user of [owner, writer, poster, undefined]) expect(await statuses(user)).toEqual([200, 200, 200, 200])
    expect(await byToken()).toEqual([200, 404, 200])
    await owner.client.patch(at.path, { private: true })
    for (const user of [owner, writer]) expect(await statuses(user)).toEqual([200, 200, 200, 200])
    for (const user of [poster, undefined]) expect(await statuses(user)).toEqual([404, 404, 404, 404])
    expect(await byToken()).toEqual([200, 404, 404])
    expect(await (await load(page)).text()).toBe('Not Found\n')
    // The unit is that of what it is: here there are issues, and no pull requests.
    await owner.client.patch(at.path, { private: false, has_pull_requests: false })
    expect(await statuses(undefined)).toEqual([200, 200, 200, 200])
    await service.context.sql`update issues set is_pull = true where repository_id = ${at.id}`
    expect(await statuses(writer)).toEqual([404, 404, 404, 404])
    await owner.client.patch(at.path, { has_pull_requests: true, has_issues: false })
    expect(await statuses(writer)).toEqual([200, 200, 200, 200])
  })

  test('are not changed by visitors, by others, with a token that only reads, and while the repository is archived', async () => {
    const at = await openRepository()
    const place = await makePlace(writer, at)
    const file = `${place}/assets/${(await upload(writer.client, place)).number('id')}`
    const before = await stored()
    const tries = async (client: TestUser['client']) => {
      const answers = [
        await upload(client, place),
        await client.patch(file, { name: 'y.txt' }),
        await client.delete(file),
      ]
      return answers.map(({ status }) => status)
    }
    expect(await tries(service.anonymous)).toEqual([401, 401, 401])
    expect(await tries(poster.client)).toEqual([403, 403, 403])
    expect(await tries(service.client({ token: await tokenOf(writer, ['read:issue']) }))).toEqual([403, 403, 403])
    await owner.client.patch(at.path, { archived: true })
    for (const user of [owner, writer]) expect(await tries(user.client)).toEqual([423, 423, 423])
    expect((await service.anonymous.get(file)).body).toMatchObject({ name: 'a.txt' })
    await owner.client.patch(at.path, { archived: false, has_issues: false })
    expect(await tries(writer.client)).toEqual([404, 404, 404])
    await owner.client.patch(at.path, { has_issues: true, private: true })
    expect(await tries(poster.client)).toEqual([404, 404, 404])
    expect(await stored()).toEqual(before)
  })

  test('go with it, with its issue and with its repository', async () => {
    await collect()
    const before = await stored()
    const single = await makePlace()
    await upload(owner.client, single)
    const within = await makePlace()
    await upload(owner.client, within)
    const other = await openRepository()
    await upload(owner.client, await makePlace(owner, other))
    expect(await stored()).toHaveLength(before.length + 3)
    expect((await owner.client.delete(single)).status).toBe(204)
    const [row] = await service.context.sql`select max(number) as number from issues where repository_id = ${repo.id}`
    expect((await owner.client.delete(`${repo.path}/issues/${row?.number}`)).status).toBe(204)
    expect((await owner.client.delete(other.path)).status).toBe(204)
    await collect()
    expect(await stored()).toEqual(before)
  })
})

test('the author of an issue adds files to it, and a comment takes those of an author who may write, and of the owner', async () => {
  expect((await upload(poster.client, await makeIssue(poster))).status).toBe(201)
  const other = await upload(poster.client, await makeIssue(owner))
  expect([other.status, other.string('message')]).toEqual([403, 'user should have permission to write issue'])
  const own = await upload(poster.client, await makeComment(poster))
  expect([own.status, own.string('message')]).toEqual([403, 'user should have permission to edit comment'])
  expect((await upload(writer.client, await makeComment(poster))).status).toBe(403)
  expect((await upload(owner.client, await makeComment(poster))).status).toBe(201)
})

test('lists read the files of all their entries at once', async () => {
  const at = await openRepository()
  const [first, second] = [await makeIssue(owner, at), await makeIssue(owner, at)]
  const comment = async () => {
    const made = await owner.client.post(`${first}/comments`, { body: 'x' })
    return `${at.path}/issues/comments/${made.number('id')}`
  }
  const statements = recordStatements(service.context)
  const count = async (path: string) => {
    statements.clear()
    expect((await owner.client.get(path)).status).toBe(200)
    return statements.texts().length
  }
  const lists = [`${at.path}/issues`, `${first}/comments`, `${at.path}/issues/comments`]
  await upload(owner.client, first)
  await upload(owner.client, await comment())
  const before: number[] = []
  for (const path of lists) before.push(await count(path))
  for (const place of [second, second, await comment(), await comment()]) await upload(owner.client, place)
  const after: number[] = []
  for (const path of lists) after.push(await count(path))
  statements.stop()
  expect(after).toEqual(before)
})

test('hooks are told of files: with the edit that brings them, and with the issue and the comment that go', async () => {
  const at = await openRepository()
  const sink = await openSink()
  const issue = await makeIssue(owner, at)
  const comment = `${at.path}/issues/comments/${(await owner.client.post(`${issue}/comments`, { body: 'said' })).number('id')}`
  await service.drain()
  const config = { url: `${sink.url}/hook`, content_type: 'json' }
  await owner.client.post(`${at.path}/hooks`, {
    type: 'gitea',
    active: true,
    events: ['issues', 'issue_comment'],
    config,
  })
  const ofIssue = await upload(owner.client, issue)
  const ofComment = await upload(owner.client, comment)
  await owner.client.delete(comment)
  await owner.client.delete(issue)
  await service.drain()
  expect(sink.received.map(({ json }) => json)).toMatchObject([
    { action: 'edited', changes: { body: { from: '' } }, issue: { assets: [ofIssue.body] } },
    {
      action: 'edited',
      changes: { body: { from: 'said' } },
      issue: { assets: [ofIssue.body] },
      comment: { assets: [ofComment.body] },
    },
    { action: 'deleted', comment: { assets: [ofComment.body] } },
    { action: 'deleted', issue: { assets: [ofIssue.body] } },
  ])
  await sink.close()
})

test('where files are switched off none is taken, and all types where the setting says so', async () => {
  const off = await startTestService({ settings: { ATTACHMENT_ENABLED: 'false' } })
  const all = await startTestService({ settings: { ATTACHMENT_ALLOWED_TYPES: '*/*' } })
  const tries = async ({ admin, createRepository }: TestService) => {
    const { path } = await createRepository(admin)
    await admin.client.post(`${path}/issues`, { title: 'x' })
    return (await upload(admin.client, `${path}/issues/1`, form('a.exe'))).status
  }
  expect([await tries(off), await tries(all)]).toEqual([404, 201])
  await off.stop()
  await all.stop()
})
