import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'
import { type SmtpSink, startSmtpSink } from '../harness/smtp.ts'
import { openSink, type Sink } from './sink.ts'

let service: TestService
let owner: TestUser
let repo: TestRepository
let sink: Sink
let mailbox: SmtpSink
/** Ahead of the clock on the wall by what tests let pass. */
let ahead = 0
const now = () => new Date(Date.now() + ahead)

beforeAll(async () => {
  mailbox = await startSmtpSink({ disabledCommands: ['STARTTLS', 'AUTH'] })
  service = await startTestService({
    settings: {
      WEBHOOK_ALLOWED_HOSTS: 'loopback',
      SMTP_URL: `smtp://127.0.0.1:${mailbox.port}`,
      MAIL_FROM: 'hearth@forge.example',
    },
    clock: { now },
  })
  owner = await service.createUser()
  sink = await openSink()
})
afterEach(async () => {
  sink.answer((response) => void response.end('ok'))
  await service.context.sql`delete from hooks`
  await service.drain()
  sink.received.length = 0
})
afterAll(async () => {
  await service.stop()
  await sink.close()
  await mailbox.stop()
})

const ALL = ['create', 'delete', 'push', 'fork', 'issues', 'issue_comment', 'repository']

async function hooked(option: Record<string, unknown> = {}, config: Record<string, string> = {}) {
  repo = await service.createRepository(owner)
  await service.drain()
  const body = {
    type: 'gitea',
    active: true,
    events: ALL,
    ...option,
    config: { url: `${sink.url}/hook`, content_type: 'json', ...config },
  }
  const made = await owner.client.post(`${repo.path}/hooks`, body)
  expect(made.status).toBe(201)
  return `${repo.path}/hooks/${made.number('id')}`
}

const words = () =>
  sink.received.map(({ headers, json }) =>
    [headers['x-gitea-event-type'], json.action ?? json.ref].filter(Boolean).join(' '),
  )

test('pages of wikis are told, by their titles', async () => {
  await hooked({ events: ['wiki'] })
  const content_base64 = Buffer.from('text').toString('base64')
  await owner.client.post(`${repo.path}/wiki/new`, { title: 'A/B page', content_base64, message: 'First' })
  await owner.client.patch(`${repo.path}/wiki/page/A%2FB-page`, { title: 'New' })
  await owner.client.delete(`${repo.path}/wiki/page/New`)
  await service.drain()
  expect(words()).toEqual(['wiki created', 'wiki edited', 'wiki deleted'])
  expect(sink.received.map(({ json }) => [json.page, json.comment])).toEqual([
    ['A/B page', 'First'],
    ['New', 'Update "New"'],
    ['New', ''],
  ])
  const [created] = sink.received
  expect(created?.json).toMatchObject({
    repository: { full_name: `${owner.name}/${repo.name}` },
    sender: { login: owner.name },
  })
  expect(Object.keys(created?.json ?? {})).toEqual(['action', 'repository', 'sender', 'page', 'comment'])
})

describe('what happens to issues is told', () => {
  test('as it was when it happened, in its order, whatever came after', async () => {
    await hooked()
    const made = await owner.client.post(`${repo.path}/issues`, {
      title: 'First',
      body: 'text',
      assignees: [owner.name],
    })
    const issue = `${repo.path}/issues/${made.number('number')}`
    await owner.client.patch(issue, { title: 'Second', body: 'other', state: 'closed' })
    const comment = await owner.client.post(`${issue}/comments`, { body: 'said' })
    await owner.client.patch(`${repo.path}/issues/comments/${comment.number('id')}`, { body: 'said better' })
    await owner.client.delete(`${repo.path}/issues/comments/${comment.number('id')}`)
    await owner.client.delete(issue)
    await service.drain()
    expect(words()).toEqual([
      'issues opened',
      'issue_assign assigned',
      'issues closed',
      'issues edited',
      'issues edited',
      'issue_comment created',
      'issue_comment edited',
      'issue_comment deleted',
      'issues deleted',
    ])
    const [opened, , , title, body, said, , , deleted] = sink.received.map(({ json }) => json)
    expect(opened).toMatchObject({ number: 1, issue: { title: 'First', body: 'text', state: 'open' } })
    expect(opened).toMatchObject({
      repository: { full_name: `${owner.name}/${repo.name}` },
      sender: { login: owner.name },
    })
    expect(title).toMatchObject({ changes: { title: { from: 'First' } }, issue: { title: 'Second', state: 'closed' } })
    expect(body).toMatchObject({ changes: { body: { from: 'text' } } })
    expect(said).toMatchObject({ comment: { body: 'said' }, issue: { title: 'Second' }, is_pull: false })
    expect(deleted).toMatchObject({ issue: { title: 'Second', assignees: [{ login: owner.name }] } })
  })

  test('labels: those that it has, and those that were cleared', async () => {
    await hooked()
    for (const name of ['bug', 'ui']) await owner.client.post(`${repo.path}/labels`, { name, color: '#112233' })
    const made = await owner.client.post(`${repo.path}/issues`, { title: 'Labelled' })
    const labels = `${repo.path}/issues/${made.number('number')}/labels`
    await owner.client.post(labels, { labels: ['bug'] })
    await owner.client.post(labels, { labels: ['bug'] })
    await owner.client.put(labels, { labels: ['bug', 'ui'] })
    await owner.client.delete(labels)
    await owner.client.delete(labels)
    await service.drain()
    expect(words()).toEqual([
      'issues opened',
      ...Array(3).fill('issue_label label_updated'),
      ...Array(2).fill('issue_label label_cleared'),
    ])
    const told = sink.received.slice(1).map(({ json }) => json.issue)
    const [bug, ui] = [{ name: 'bug', color: '112233' }, { name: 'ui' }]
    expect(told).toMatchObject([[bug], [bug], [bug, ui], [bug, ui], []].map((carried) => ({ labels: carried })))
  })

  test('plans: milestones and assignees that come and go', async () => {
    await hooked()
    const milestone = await owner.client.post(`${repo.path}/milestones`, { title: 'Soon' })
    const issue = `${repo.path}/issues/${(await owner.client.post(`${repo.path}/issues`, { title: 'Planned' })).number('number')}`
    await owner.client.patch(issue, { milestone: milestone.number('id') })
    await owner.client.patch(issue, { milestone: 0 })
    await owner.client.patch(issue, { assignees: [owner.name] })
    await owner.client.patch(issue, { assignees: [] })
    await owner.client.patch(issue, { state: 'closed' })
    await owner.client.patch(issue, { state: 'open' })
    await service.drain()
    expect(words()).toEqual([
      'issues opened',
      'issue_milestone milestoned',
      'issue_milestone demilestoned',
      'issue_assign assigned',
      'issue_assign unassigned',
      'issues closed',
      'issues reopened',
    ])
    const told = sink.received.map(({ headers, json }) => ({ event: headers['x-gitea-event'], ...Object(json.issue) }))
    expect(told.slice(1, 5)).toMatchObject([
      { event: 'issues', milestone: { title: 'Soon' } },
      { event: 'issues', milestone: null },
      { event: 'issues', assignees: [{ login: owner.name }] },
      { event: 'issues', assignees: null },
    ])
  })

  test('with no address that somebody hides', async () => {
    await hooked()
    await owner.client.patch('/user/settings', { hide_email: true })
    await owner.client.post(`${repo.path}/issues`, { title: 'Quiet' })
    await service.drain()
    expect(sink.received.length).toBe(1)
    expect(sink.received[0]?.body).not.toContain(`${owner.name}@localhost`)
    await owner.client.patch('/user/settings', { hide_email: false })
  })
})

async function cloned(): Promise<string> {
  const folder = join(service.git.folder, repo.name)
  await service.git(['clone', '-q', repo.cloneUrl, folder])
  return folder
}

async function commit(cwd: string, files: Record<string, string>, message: string): Promise<void> {
  for (const [name, content] of Object.entries(files)) await Bun.write(join(cwd, name), content)
  await service.git(['add', '-A'], { cwd })
  await service.git(['commit', '-q', '-m', message], { cwd })
}

describe('pushes', () => {
  test('of branches and tags are told with their commits', async () => {
    await hooked()
    const cwd = await cloned()
    await commit(cwd, { 'a.txt': 'one', 'b.txt': 'two' }, 'Add two files')
    await service.git(['rm', '-q', 'a.txt'], { cwd })
    await commit(cwd, { 'b.txt': 'three' }, 'Change and remove')
    await service.git(['push', '-q', 'origin', 'HEAD:main'], { cwd })
    await service.drain()
    expect(words()).toEqual(['push refs/heads/main'])
    const push = sink.received[0]?.json
    expect(push).toMatchObject({
      total_commits: 2,
      commits: [
        { message: 'Change and remove\n', added: [], removed: ['a.txt'], modified: ['b.txt'] },
        { message: 'Add two files\n', added: ['a.txt', 'b.txt'], removed: [], modified: [] },
      ],
      head_commit: { message: 'Change and remove\n' },
      pusher: { login: owner.name },
    })
    sink.received.length = 0
    await service.git(['tag', 'v1'], { cwd })
    await service.git(['push', '-q', 'origin', 'v1', 'HEAD:refs/heads/dev'], { cwd })
    await service.drain()
    expect(words().sort()).toEqual(['create dev', 'create v1', 'push refs/heads/dev', 'push refs/tags/v1'])
    sink.received.length = 0
    await service.git(['push', '-q', 'origin', ':v1', ':dev'], { cwd })
    await service.drain()
    expect(words().sort()).toEqual(['delete dev', 'delete v1', 'push refs/tags/v1'])
  })

  test('are told to those whose filter names the branch', async () => {
    await hooked({ branch_filter: 'release/*', events: ['push', 'create'] })
    const cwd = await cloned()
    await service.git(['push', '-q', 'origin', 'HEAD:refs/heads/other', 'HEAD:refs/heads/release/1'], { cwd })
    await service.drain()
    expect(words()).toEqual(['create release/1', 'push refs/heads/release/1'])
  })
})

describe('repositories', () => {
  test('are told of as they come, are forked and go', async () => {
    const made = await owner.client.post('/user/hooks', {
      type: 'gitea',
      active: true,
      events: ['repository', 'fork'],
      config: { url: `${sink.url}/mine`, content_type: 'json' },
    })
    const forker = await service.createUser()
    repo = await service.createRepository(owner)
    await forker.client.post(`${repo.path}/forks`, {})
    await owner.client.delete(repo.path)
    await service.drain()
    // Of two repositories, each has its own order.
    expect(words().sort()).toEqual(['fork', 'repository created', 'repository deleted'])
    const json = (word: string) => sink.received[words().indexOf(word)]?.json
    const [created, forked, deleted] = [json('repository created'), json('fork'), json('repository deleted')]
    expect(created).toMatchObject({ repository: { name: repo.name }, organization: { login: owner.name } })
    expect(forked).toMatchObject({
      forkee: { owner: { login: owner.name } },
      repository: { owner: { login: forker.name } },
    })
    expect(deleted).toMatchObject({
      repository: { full_name: `${owner.name}/${repo.name}` },
      sender: { login: owner.name },
    })
    await owner.client.delete(`/user/hooks/${made.number('id')}`)
  })

  test('that are new have the default hooks at once, and hooks of the site hear of all', async () => {
    const admin = service.admin.client
    const config = { content_type: 'json' }
    const shared = { type: 'gitea', active: true, events: ['repository'] }
    const given = await admin.post('/admin/hooks', { ...shared, config: { ...config, url: `${sink.url}/default` } })
    const site = await admin.post('/admin/hooks', {
      ...shared,
      config: { ...config, url: `${sink.url}/site`, is_system_webhook: 'true' },
    })
    repo = await service.createRepository(owner)
    expect((await owner.client.get(`${repo.path}/hooks`)).body).toMatchObject([
      { events: ['repository'], active: true },
    ])
    await service.drain()
    expect(sink.received.map(({ path }) => path).sort()).toEqual(['/default', '/site'])
    for (const hook of [given, site]) await admin.delete(`/admin/hooks/${hook.number('id')}`)
  })
})

describe('a delivery', () => {
  test('carries the headers and signatures that receivers check', async () => {
    await hooked({ authorization_header: 'Bearer abc' }, { secret: 'hush' })
    await owner.client.post(`${repo.path}/issues`, { title: 'Signed' })
    await service.drain()
    const [{ headers, body }] = sink.received as [(typeof sink.received)[number]]
    const digest = (algorithm: string) => createHmac(algorithm, 'hush').update(body).digest('hex')
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      authorization: 'Bearer abc',
      'x-gitea-event': 'issues',
      'x-gogs-event': 'issues',
      'x-github-event': 'issues',
      'x-gitea-hook-installation-target-type': 'repository',
      'x-gitea-signature': digest('sha256'),
      'x-hub-signature': `sha1=${digest('sha1')}`,
      'x-hub-signature-256': `sha256=${digest('sha256')}`,
    })
    expect(headers['x-gitea-delivery']).toBe(headers['webhook-id'])
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
    expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', 'hush').update(signed).digest('base64')}`)
  })

  test('of a form carries the JSON text in one field, and that text is signed', async () => {
    await hooked({}, { content_type: 'form', secret: 'hush' })
    await owner.client.post(`${repo.path}/issues`, { title: 'A form & <more>' })
    await service.drain()
    const [{ headers, body }] = sink.received as [(typeof sink.received)[number]]
    const payload = new URLSearchParams(body).get('payload') ?? ''
    expect(JSON.parse(payload)).toMatchObject({ action: 'opened', issue: { title: 'A form & <more>' } })
    expect(headers['x-gitea-signature']).toBe(createHmac('sha256', 'hush').update(payload).digest('hex'))
  })

  test('without a secret has no signature', async () => {
    await hooked()
    await owner.client.post(`${repo.path}/issues`, { title: 'Plain' })
    await service.drain()
    expect(Object.keys(sink.received[0]?.headers ?? {}).filter((name) => name.includes('signature'))).toEqual([])
  })

  test('for Packagist names the package, and tells of pushes alone', async () => {
    await hooked({ type: 'packagist' }, { package_url: 'https://packagist.org/packages/a/b' })
    await owner.client.post(`${repo.path}/issues`, { title: 'Not for Packagist' })
    const cwd = await cloned()
    await commit(cwd, { 'a.txt': 'one' }, 'One')
    await service.git(['push', '-q', 'origin', 'HEAD:main'], { cwd })
    await service.drain()
    expect(sink.received.map(({ json }) => json)).toEqual([
      { repository: { url: 'https://packagist.org/packages/a/b' } },
    ])
  })

  test('for Matrix is put under its own id, with the token of the hook', async () => {
    await hooked(
      { type: 'matrix', authorization_header: 'Bearer abc' },
      { url: `${sink.url}/rooms/!r:a/send/m.room.message` },
    )
    const issue = await owner.client.post(`${repo.path}/issues`, { title: 'In a room' })
    for (const state of ['closed', 'open', 'closed'])
      await owner.client.patch(`${repo.path}/issues/${issue.number('number')}`, { state })
    await service.drain()
    expect(sink.received.map(({ method }) => method)).toEqual(['PUT', 'PUT', 'PUT', 'PUT'])
    for (const { path, headers } of sink.received) {
      expect(path).toBe(`/rooms/!r:a/send/m.room.message/${headers['x-gitea-delivery']}`)
      expect(headers).toMatchObject({ authorization: 'Bearer abc', 'content-type': 'application/json' })
    }
    expect(sink.received[1]?.body).toBe(sink.received[3]?.body ?? '')
    expect(sink.received[1]?.json).toMatchObject({ msgtype: 'm.notice', body: expect.stringContaining('Issue closed') })
  })

  test('for Feishu is signed with the time of each attempt', async () => {
    await hooked({ type: 'feishu' }, { secret: 'hush' })
    sink.answer((response) => void response.writeHead(503).end())
    await owner.client.post(`${repo.path}/issues`, { title: 'For people' })
    await service.drain()
    sink.answer((response) => void response.end('ok'))
    await passTime(7200)
    const [first, second] = sink.received
    expect(second?.headers['x-gitea-delivery']).toBe(first?.headers['x-gitea-delivery'])
    expect(Number(second?.json.timestamp) - Number(first?.json.timestamp)).toBeGreaterThanOrEqual(7200)
    for (const { headers, json, body } of sink.received) {
      const key = `${json.timestamp}\nhush`
      expect(json).toMatchObject({ msg_type: 'text', sign: createHmac('sha256', key).digest('base64') })
      expect(Object.keys(json)).toEqual(['timestamp', 'sign', 'msg_type', 'content'])
      expect(headers['x-gitea-signature']).toBe(createHmac('sha256', 'hush').update(body).digest('hex'))
    }
  })

  test('for Slack is a message', async () => {
    await hooked({ type: 'slack' }, { channel: '#chan' })
    await owner.client.post(`${repo.path}/issues`, { title: 'For people' })
    await service.drain()
    expect(sink.received[0]?.json).toMatchObject({ channel: '#chan', text: expect.stringContaining('Issue opened') })
  })
})

describe('what does not arrive', () => {
  test('is tried again with the same id, and what comes later waits for it', async () => {
    const hook = await hooked()
    sink.answer((response) => void response.writeHead(503, { 'retry-after': '120' }).end('busy'))
    await owner.client.post(`${repo.path}/issues`, { title: 'Late' })
    await owner.client.patch(`${repo.path}/issues/1`, { title: 'Later' })
    await service.drain()
    expect(sink.received.length).toBe(1)
    const waiting = await owner.client.get(`${hook}/deliveries`, { status: 'waiting' })
    expect(waiting.headers.get('x-total-count')).toBe('2')
    expect(waiting.body).toMatchObject([
      { event_type: 'issues', attempts: 0 },
      { event_type: 'issues', attempts: 1, response_status: 503 },
    ])
    sink.answer((response) => void response.end('ok'))
    const [, first] = waiting.body as { created_at: string; next_attempt_at: string }[]
    const waits = Date.parse(first?.next_attempt_at ?? '') - Date.parse(first?.created_at ?? '')
    expect(waits).toBeGreaterThanOrEqual(119_000)
    await passTime(120)
    expect(words()).toEqual(['issues opened', 'issues opened', 'issues edited'])
    const ids = sink.received.map(({ headers }) => headers['x-gitea-delivery'])
    expect(ids[0]).toBe(ids[1])
    expect((await owner.client.get(`${hook}/deliveries`, { status: 'waiting' })).body).toEqual([])
  })

  test.each([
    [404, 'failed'],
    [303, 'failed'],
    [204, 'delivered'],
    [429, 'waiting'],
    [500, 'waiting'],
  ])('with an answer of %p is %s', async (status, state) => {
    const hook = await hooked()
    sink.answer((response) => void response.writeHead(status).end())
    await owner.client.post(`${repo.path}/issues`, { title: 'Once' })
    await service.drain()
    expect((await owner.client.get(`${hook}/deliveries`)).body).toMatchObject([{ status: state, attempts: 1 }])
    await owner.client.delete(hook)
  })

  test('is given up after about a day, and a target that was dead for days is paused until somebody resumes it', async () => {
    const hook = await hooked({}, { url: `${sink.url}/hook?key=very-secret` })
    sink.answer((response) => void response.writeHead(500).end())
    await owner.client.post(`${repo.path}/issues`, { title: 'Dead' })
    // A fifth longer than the longest pause.
    for (let tries = 0; tries < 14; tries++) await passTime(5 * 3600)
    expect((await owner.client.get(`${hook}/deliveries`)).body).toMatchObject([{ status: 'failed', attempts: 14 }])
    await passTime(2 * 86_400)
    mailbox.mails.length = 0
    await owner.client.post(`${repo.path}/issues`, { title: 'Still dead' })
    await service.drain()
    const mails = mailbox.mails.map(({ to, headers, text }) => ({ to, subject: headers.find(isSubject), text }))
    const { host } = new URL(sink.url)
    expect(mails).toEqual([
      {
        to: [`${owner.name}@localhost.localdomain`],
        subject: `Subject: A webhook is paused: ${host}`,
        text: expect.stringContaining(`${sink.url}/hook?key=***`),
      },
    ])
    sink.received.length = 0
    await owner.client.post(`${repo.path}/issues`, { title: 'Paused' })
    await passTime(86_400)
    expect(sink.received).toEqual([])
    sink.answer((response) => void response.end('ok'))
    expect((await owner.client.patch(hook, { active: true, events: ALL })).status).toBe(200)
    await passTime(0)
    // Two issues: each has its own order.
    expect(sink.received.map(({ json }) => Object(json.issue).title).sort()).toEqual(['Paused', 'Still dead'])
    expect(mailbox.mails.length).toBe(1)
  })

  test('to an address inside is refused without a connection, and told so', async () => {
    const hook = await hooked({}, { url: 'http://169.254.169.254/latest' })
    await owner.client.post(`${repo.path}/issues`, { title: 'Inside' })
    await service.drain()
    const [delivery] = (await owner.client.get(`${hook}/deliveries`)).body as [Record<string, unknown>]
    expect(delivery).toMatchObject({ status: 'failed', response_status: null })
    expect(String(delivery.error)).toContain('may not reach')
  })
})

const isSubject = (header: string): boolean => header.startsWith('Subject: ')

/** Lets so many seconds pass, and does what is due then. */
async function passTime(seconds: number): Promise<void> {
  ahead += seconds * 1000
  await service.context.sql`update jobs set run_at = now() where run_at > now() and name = 'webhooks.send'`
  await service.drain()
}

describe('deliveries', () => {
  test('are shown without secrets, and sent once more by those who may change the hook', async () => {
    const hook = await hooked(
      { authorization_header: 'Bearer abc' },
      { secret: 'hush', url: `${sink.url}/hook?key=very-secret` },
    )
    sink.answer((response) => void response.writeHead(200, { 'x-a': 'b' }).end('x'.repeat(100_000)))
    await owner.client.post(`${repo.path}/issues`, { title: 'Seen' })
    await service.drain()
    const [summary] = (await owner.client.get(`${hook}/deliveries`)).body as [{ uuid: string }]
    const one = await owner.client.get(`${hook}/deliveries/${summary.uuid}`)
    expect(one.body).toMatchObject({
      status: 'delivered',
      request: { method: 'POST', headers: { authorization: '***', 'X-Hub-Signature-256': '***' } },
      response: { status: 200, headers: { 'x-a': 'b' }, is_cut: true },
    })
    const text = JSON.stringify(one.body)
    for (const secret of ['Bearer abc', 'hush', 'very-secret', 'sha256='])
      expect([secret, text.includes(secret)]).toEqual([secret, false])
    const again = await owner.client.post(`${hook}/deliveries/${summary.uuid}/redeliver`)
    expect(again.status).toBe(202)
    expect(again.string('uuid')).not.toBe(summary.uuid)
    await service.drain()
    expect(sink.received.length).toBe(2)
    expect(sink.received[1]?.body).toBe(sink.received[0]?.body)
  })

  test('of an inactive hook wait until it is active', async () => {
    const hook = await hooked()
    sink.answer((response) => void response.writeHead(503).end())
    await owner.client.post(`${repo.path}/issues`, { title: 'Waits' })
    await service.drain()
    await owner.client.patch(hook, { active: false, events: ALL })
    sink.received.length = 0
    await passTime(60)
    expect(sink.received).toEqual([])
    sink.answer((response) => void response.end('ok'))
    await owner.client.patch(hook, { active: true, events: ALL })
    await service.drain()
    expect(words()).toEqual(['issues opened'])
  })

  test('of many subjects do not wait for one that fails', async () => {
    const hook = await hooked()
    const isBad = ({ json }: { json: Record<string, unknown> }) => Object(json.issue).title.startsWith('Bad')
    sink.answer((response, one) => void response.writeHead(isBad(one) ? 500 : 200).end())
    const bad = await owner.client.post(`${repo.path}/issues`, { title: 'Bad' })
    await service.drain()
    for (let change = 0; change < 70; change++)
      await owner.client.patch(`${repo.path}/issues/${bad.number('number')}`, { title: `Bad ${change}` })
    for (const title of ['One', 'Two']) await owner.client.post(`${repo.path}/issues`, { title })
    sink.received.length = 0
    await service.drain()
    expect(
      sink.received
        .filter((one) => !isBad(one))
        .map(({ json }) => Object(json.issue).title)
        .sort(),
    ).toEqual(['One', 'Two'])
    sink.answer((response) => void response.end('ok'))
    sink.received.length = 0
    await passTime(3600)
    expect(sink.received.map(({ json }) => Object(json.issue).title)).toEqual([
      'Bad',
      ...Array.from({ length: 70 }, (_, change) => `Bad ${change}`),
    ])
    expect((await owner.client.get(`${hook}/deliveries`, { status: 'waiting' })).body).toEqual([])
  })

  test('are kept up to a thousand for each hook, beside those that wait', async () => {
    const hook = await hooked()
    const id = Number(hook.split('/').at(-1))
    const { sql } = service.context
    await sql`insert into hook_deliveries (hook_id, event_type, subject, payload, state)
      select ${id}, 'push', 'alone:' || n, '{}', case when n <= 3 then 'waiting' when n % 2 = 0 then 'failed' else 'delivered' end
      from generate_series(1, 1203) n`
    await sql`insert into hook_deliveries (hook_id, event_type, subject, payload, state, created_at)
      select ${id}, 'push', 'old', '{}', 'delivered', now() - interval '8 days'`
    expect((await service.admin.client.post('/admin/cron/cleanup_hook_task_table')).status).toBe(204)
    await sql`update hooks set is_active = false where id = ${id}`
    await service.drain()
    const left = await sql<{ waiting: number; over: number; oldest: number }[]>`
      select count(*) filter (where state = 'waiting')::int as waiting, count(*) filter (where state <> 'waiting')::int as over,
        min(substr(subject, 7)::int) filter (where state <> 'waiting') as oldest
      from hook_deliveries where hook_id = ${id} and subject <> 'old'`
    expect([...left]).toEqual([{ waiting: 3, over: 1000, oldest: 204 }])
    expect([...(await sql`select 1 from hook_deliveries where hook_id = ${id} and subject = 'old'`)]).toEqual([])
  })

  test.each([
    ['https://hooks.slack.com/services/T0/B0/very-secret', 'https://hooks.slack.com/services/***'],
    ['https://HOOKS.slack.com.:443/workflows/very-secret', 'https://HOOKS.slack.com.:443/workflows/***'],
    ['https://discord.com/api/webhooks/12/very-secret/slack', 'https://discord.com/api/webhooks/12/***/slack'],
    [
      'https://api.telegram.org/bot1:very-secret/sendMessage?chat_id=1',
      'https://api.telegram.org/bot***/sendMessage?chat_id=***',
    ],
    ['https://open.feishu.cn/open-apis/bot/v2/hook/very-secret', 'https://open.feishu.cn/open-apis/bot/v2/hook/***'],
    ['https://a.webhook.office.com/webhookb2/very-secret/x', 'https://a.webhook.office.com/webhookb2/***'],
    ['https://receiver.example/services/a/b', 'https://receiver.example/services/a/b'],
  ])('of %s show no secret, and what was shown can be sent back', async (url, shown) => {
    const hook = await hooked({}, { url })
    expect((await owner.client.get(hook)).body).toMatchObject({ config: { url: shown } })
    const config = { url: shown, content_type: 'form' }
    expect((await owner.client.patch(hook, { config })).body).toMatchObject({ config })
    const [row] = await service.context.sql<{ sealed_url: Uint8Array }[]>`select sealed_url from hooks`
    expect(row && service.context.secrets.open('hook url', row.sealed_url)).toBe(url)
  })

  test('are never made with a header that no request can have', async () => {
    const hook = await hooked({ authorization_header: 'Bearer abc' })
    for (const header of ['Bearer ☃', 'a\r\nx-b: c', 'a\u0000', 'a\u007f'])
      expect((await owner.client.patch(hook, { authorization_header: header })).status).toBe(422)
    expect((await owner.client.get(hook)).body).toMatchObject({ authorization_header: 'Bearer abc' })
  })

  test("are nobody else's to see, and found below their own hook alone", async () => {
    const hook = await hooked()
    await owner.client.post(`${repo.path}/issues`, { title: 'Mine' })
    await service.drain()
    const [{ uuid }] = (await owner.client.get(`${hook}/deliveries`)).body as [{ uuid: string }]
    const stranger = await service.createUser()
    for (const path of [`${hook}/deliveries`, `${hook}/deliveries/${uuid}`]) {
      expect((await service.anonymous.get(path)).status).toBe(401)
      expect((await stranger.client.get(path)).status).toBe(403)
    }
    expect((await stranger.client.post(`${hook}/deliveries/${uuid}/redeliver`)).status).toBe(403)
    expect((await service.anonymous.post(`${hook}/tests`)).status).toBe(401)
    const other = await owner.client.post('/user/hooks', {
      type: 'gitea',
      config: { url: `${sink.url}/x`, content_type: 'json' },
    })
    const elsewhere = `/user/hooks/${other.number('id')}/deliveries`
    expect((await owner.client.get(`${elsewhere}/${uuid}`)).status).toBe(404)
    expect((await owner.client.get(`${hook}/deliveries/nonsense`)).status).toBe(404)
    expect((await owner.client.get(`${hook}/deliveries`, { status: 'lost' })).status).toBe(422)
    await owner.client.delete(`/user/hooks/${other.number('id')}`)
  })

  test('can be tested on every level', async () => {
    const hook = await hooked({ events: ['fork'] })
    const mine = await owner.client.post('/user/hooks', {
      type: 'gitea',
      active: true,
      config: { url: `${sink.url}/user`, content_type: 'json' },
    })
    for (const path of [hook, `/user/hooks/${mine.number('id')}`])
      expect([path, (await owner.client.post(`${path}/tests`)).status]).toEqual([path, 204])
    await service.drain()
    expect(sink.received.map(({ path }) => path).sort()).toEqual(['/hook', '/user'])
    const [{ json }] = sink.received as [(typeof sink.received)[number]]
    expect(json).toMatchObject({
      ref: 'refs/heads/main',
      total_commits: 1,
      before: json.after,
      pusher: { login: owner.name },
    })
    await owner.client.delete(`/user/hooks/${mine.number('id')}`)
  })
})
