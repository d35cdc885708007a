import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { request } from 'node:http'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

setDefaultTimeout(30_000)

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

interface Thread {
  id: number
  unread: boolean
  pinned: boolean
  updated_at: string
  url: string
  repository: { full_name: string }
  subject: Record<
    'title' | 'url' | 'html_url' | 'latest_comment_url' | 'latest_comment_html_url' | 'type' | 'state',
    string
  >
}

const rowsOf = (body: unknown): Thread[] => (Array.isArray(body) ? body : [])

/** What somebody is told by the list, whose total must be right and fit the count of the unread. */
async function threadsOf(who: TestUser, query: Record<string, string | number | boolean | string[]> = {}, path = '') {
  await service.drain()
  const answer = await who.client.get(`${path}/notifications`, query)
  expect([path, answer.status]).toEqual([path, 200])
  const rows = rowsOf(answer.body)
  if (query.page === undefined && query.limit === undefined)
    expect(answer.headers.get('x-total-count')).toBe(String(rows.length))
  return rows
}

const titles = (rows: Thread[]) => rows.map(({ subject }) => subject.title)

async function unreadOf(who: TestUser): Promise<number> {
  await service.drain()
  return (await who.client.get('/notifications/new')).number('new')
}

let counter = 0
/** Writes an issue and returns its path; its title is one of a kind. */
async function write(repo: TestRepository, author: TestUser, option: Record<string, unknown> = {}) {
  counter += 1
  const title = `issue ${counter}`
  const made = await author.client.post(`${repo.path}/issues`, { title, ...option })
  expect(made.status).toBe(201)
  return { path: `${repo.path}/issues/${made.number('number')}`, title }
}

/** By node:http, since `fetch` hides the body of a 205. */
function sendRaw(method: string, path: string, who: TestUser, body?: string) {
  const headers = { authorization: `token ${who.token}`, ...(body && { 'content-type': 'application/json' }) }
  return new Promise<{ status: number | undefined; body: unknown }>((resolve, reject) => {
    const sent = request(`${service.url}/api/v1${path}`, { method, headers }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk) => chunks.push(chunk))
      answer.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        resolve({ status: answer.statusCode, body: text === '' ? undefined : JSON.parse(text) })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

async function mark(who: TestUser, path: string, method = 'PUT'): Promise<Thread[]> {
  const { status, body } = await sendRaw(method, path, who)
  expect([path, status]).toEqual([path, 205])
  return method === 'PATCH' ? rowsOf([body]) : rowsOf(body)
}

test('who is called in a team of the owner is told, as far as they may read', async () => {
  const names = ['team-reads', 'team-blind', 'team-other', 'team-none'] as const
  const [owner, reads, blind, other, none] = await Promise.all([
    service.createUser('team-owner'),
    ...names.map((name) => service.createUser(name)),
  ])
  if (!owner || !reads || !blind || !other || !none) throw new Error('five people were made')
  const at = '/repos/team-club/kept'
  for (const org of ['team-club', 'team-rivals']) await owner.client.post('/orgs', { username: org })
  await owner.client.post('/orgs/team-club/repos', { name: 'kept', private: true })
  const makeTeam = async (org: string, name: string, unit: string, members: TestUser[]) => {
    const made = await owner.client.post(`/orgs/${org}/teams`, { name, permission: 'read', units: [unit] })
    for (const { name } of members) await owner.client.put(`/teams/${made.number('id')}/members/${name}`)
    return made.number('id')
  }
  const crew = await makeTeam('team-club', 'Crew', 'repo.issues', [reads])
  const wiki = await makeTeam('team-club', 'blind', 'repo.wiki', [blind])
  await makeTeam('team-rivals', 'crew', 'repo.issues', [other])
  for (const id of [crew, wiki]) await owner.client.put(`/teams/${id}/repos/team-club/kept`)
  const told = async (body: string) => {
    await owner.client.post(`${at}/issues`, { title: 'called', body })
    const found: string[] = []
    for (const who of [reads, blind, other, none]) {
      if ((await threadsOf(who)).some(({ unread }) => unread)) found.push(who.name)
      await who.client.put('/notifications')
    }
    return found
  }
  expect(await told('@team-club/crew @team-club/blind @team-rivals/crew')).toEqual(['team-reads'])
  expect(await told('@team-club and `@team-club/crew`')).toEqual([])
  const rows = await service.context.sql`
    select name from notifications join users on users.id = user_id where name like 'team-%'`
  expect(rows.map(({ name }) => name)).toEqual(['team-reads'])
})

describe('who is told', () => {
  let owner: TestUser
  let author: TestUser
  let watcher: TestUser
  let commenter: TestUser
  let assignee: TestUser
  let called: TestUser
  let subscriber: TestUser
  let tired: TestUser
  let blocker: TestUser
  let repo: TestRepository
  let issue: { path: string; title: string }

  const everybody = () => ({ owner, author, watcher, commenter, assignee, called, subscriber, tired, blocker })

  /** The names of those whose list has the issue as unread, after which all have read everything. */
  async function notifiedOf(title: string): Promise<string[]> {
    const names: string[] = []
    for (const [name, who] of Object.entries(everybody())) {
      const rows = await threadsOf(who)
      if (rows.some(({ unread, subject }) => unread && subject.title === title)) names.push(name)
      await who.client.put('/notifications')
    }
    return names
  }

  /** Those who have a thread of it, whether they see it or not. */
  async function receiversOf(title: string): Promise<string[]> {
    const rows = await service.context.sql`
      select name from notifications join issues on issues.id = issue_id join users on users.id = user_id where title = ${title}`
    return rows.map(({ name }) => String(name))
  }

  beforeAll(async () => {
    owner = await service.createUser()
    author = await service.createUser()
    watcher = await service.createUser()
    commenter = await service.createUser()
    assignee = await service.createUser()
    called = await service.createUser('called-one')
    subscriber = await service.createUser()
    tired = await service.createUser()
    blocker = await service.createUser()
    repo = await service.createRepository(owner)
    await owner.client.put(`${repo.path}/collaborators/${assignee.name}`, { permission: 'write' })
    for (const who of [watcher, tired, blocker]) await who.client.put(`${repo.path}/subscription`)
    expect((await blocker.client.put(`/user/blocks/${author.name}`)).status).toBe(204)
  })

  test('a new issue is news for watchers and for who is called, not for its author nor for who blocked them', async () => {
    const body = `Hello @Called-One, @nobody-there and @${blocker.name}, \`@${commenter.name}\` a@${subscriber.name}.org`
    issue = await write(repo, author, { body })
    expect(await notifiedOf(issue.title)).toEqual(['owner', 'watcher', 'called', 'tired'])
  })

  test('who asked not to be told of an issue is not, called or not', async () => {
    expect((await tired.client.delete(`${issue.path}/subscriptions/${tired.name}`)).status).toBe(201)
    expect((await subscriber.client.put(`${issue.path}/subscriptions/${subscriber.name}`)).status).toBe(201)
    await commenter.client.post(`${issue.path}/comments`, { body: `@${tired.name} see` })
    expect(await notifiedOf(issue.title)).toEqual(['owner', 'author', 'watcher', 'subscriber', 'blocker'])
  })

  test('an assignee is told alone', async () => {
    await owner.client.patch(issue.path, { assignees: [assignee.name] })
    expect(await notifiedOf(issue.title)).toEqual(['assignee'])
    await owner.client.patch(issue.path, { assignees: [assignee.name], title: issue.title })
    expect(await notifiedOf(issue.title)).toEqual([])
  })

  test('all who take part are told of a comment, a close and a reopening, each but who did it', async () => {
    await watcher.client.post(`${issue.path}/comments`, { body: '```\n@called-one\n```' })
    expect(await notifiedOf(issue.title)).toEqual(['owner', 'author', 'commenter', 'assignee', 'subscriber', 'blocker'])
    await owner.client.patch(issue.path, { state: 'closed' })
    expect(await notifiedOf(issue.title)).toEqual([
      'author',
      'watcher',
      'commenter',
      'assignee',
      'subscriber',
      'blocker',
    ])
    await author.client.patch(issue.path, { state: 'open' })
    expect(await notifiedOf(issue.title)).toEqual(['owner', 'watcher', 'commenter', 'assignee', 'subscriber'])
  })

  test('an issue that is given to somebody when it is made tells them', async () => {
    const given = await write(repo, owner, { assignees: [assignee.name, owner.name] })
    expect(await notifiedOf(given.title)).toEqual(['watcher', 'assignee', 'tired', 'blocker'])
  })

  test('the same news are told once, however often they are given out', async () => {
    const one = await write(repo, author)
    await service.drain()
    await mark(watcher, '/notifications')
    const before = await service.context.sql`select id, status, event_id, updated_at from notifications order by id`
    await service.context.sql`update events set fanned_out_at = null`
    await service.drain()
    const after = await service.context.sql`select id, status, event_id, updated_at from notifications order by id`
    expect(after.length).toBeGreaterThan(10)
    expect(after).toEqual(before)
    expect(titles(await threadsOf(watcher, { all: true }))[0]).toBe(one.title)
  })

  test('nobody is told who may not sign in', async () => {
    const change = (who: TestUser, json: object) =>
      service.admin.client.patch(`/admin/users/${who.name}`, { login_name: who.name, source_id: 0, ...json })
    await change(watcher, { active: false })
    await change(tired, { prohibit_login: true })
    const { title } = await write(repo, owner)
    await service.drain()
    await change(watcher, { active: true })
    await change(tired, { prohibit_login: false })
    expect(await notifiedOf(title)).toEqual(['blocker'])
  })

  test('nobody is told who may not read: of a private repository, or of issues without that unit', async () => {
    const secret = await service.createRepository(owner, { private: true })
    await owner.client.put(`${secret.path}/collaborators/${assignee.name}`, { permission: 'read' })
    const one = await write(secret, owner, { body: `@${called.name} @${assignee.name}` })
    expect(await notifiedOf(one.title)).toEqual(['assignee'])
    expect(await receiversOf(one.title)).toEqual([assignee.name])
    await owner.client.post('/orgs', { username: 'closed-club', visibility: 'private' })
    await owner.client.post('/orgs/closed-club/repos', { name: 'plans', private: true })
    const units = [
      ['readers', called, { 'repo.issues': 'read' }],
      ['coders', commenter, { 'repo.code': 'write' }],
    ] as const
    for (const [name, member, map] of units) {
      const team = await owner.client.post('/orgs/closed-club/teams', { name, permission: 'none', units_map: map })
      await owner.client.put(`/teams/${team.number('id')}/members/${member.name}`)
      await owner.client.put(`/teams/${team.number('id')}/repos/closed-club/plans`)
    }
    const plans = { ...secret, path: '/repos/closed-club/plans' }
    const two = await write(plans, owner, { body: `@${called.name} @${commenter.name} @${watcher.name}` })
    expect(await notifiedOf(two.title)).toEqual(['called'])
    expect(await receiversOf(two.title)).toEqual([called.name])
  })

  test('a pinned thread stays pinned and goes to the top, a read one is unread again', async () => {
    const [first, second] = [await write(repo, author), await write(repo, author)]
    const [, pinned] = await threadsOf(watcher)
    await mark(watcher, `/notifications/threads/${pinned?.id}?to-status=pinned`, 'PATCH')
    await mark(watcher, '/notifications')
    for (const { path } of [second, first]) await author.client.post(`${path}/comments`, { body: 'more' })
    const rows = (await threadsOf(watcher)).map(({ subject, unread, pinned }) => [subject.title, unread, pinned])
    expect(rows).toEqual([
      [first.title, false, true],
      [second.title, true, false],
    ])
  })

  test('many watchers are all told, in parts', async () => {
    const { sql } = service.context
    const crowd = await service.createRepository(owner)
    await sql`insert into users (name) select 'fan-' || n from generate_series(1, 5400) n`
    await sql`insert into watches (user_id, repository_id) select id, ${crowd.id} from users where name like 'fan-%'`
    await write(crowd, author)
    await write(crowd, author)
    await service.drain()
    const [row] = await sql`select count(*)::int as threads from notifications where repository_id = ${crowd.id}`
    expect(row).toEqual({ threads: 2 * 5401 })
  })
})

describe('a thread', () => {
  test('shows the repository, what it is about, and the last comment', async () => {
    const [owner, other] = [await service.createUser(), await service.createUser()]
    const repo = await service.createRepository(owner)
    const { path, title } = await write(repo, other)
    const [thread] = await threadsOf(owner)
    const page = `${service.context.baseUrl}/${owner.name}/${repo.name}/issues/1`
    const api = `${service.context.baseUrl}/api/v1/repos/${owner.name}/${repo.name}/issues`
    const subject = {
      title,
      url: `${api}/1`,
      html_url: page,
      latest_comment_url: '',
      latest_comment_html_url: '',
      type: 'Issue',
      state: 'open',
    }
    expect(thread).toMatchObject({
      unread: true,
      pinned: false,
      url: `${service.context.baseUrl}/api/v1/notifications/threads/${thread?.id}`,
      repository: { full_name: `${owner.name}/${repo.name}`, owner: { login: owner.name } },
      subject,
    })
    const comments: number[] = []
    for (const body of ['one', 'two'])
      comments.push((await other.client.post(`${path}/comments`, { body })).number('id'))
    await other.client.patch(path, { state: 'closed' })
    const read = () => owner.client.get(`/notifications/threads/${thread?.id}`)
    const withComment = (id: number | undefined) => ({
      ...subject,
      latest_comment_url: `${api}/comments/${id}`,
      latest_comment_html_url: `${page}#issuecomment-${id}`,
      state: 'closed',
    })
    expect((await read()).body).toMatchObject({ subject: withComment(comments[1]) })
    await other.client.delete(`${repo.path}/issues/comments/${comments[1]}`)
    expect((await read()).body).toMatchObject({ subject: withComment(comments[0]) })
    await owner.client.delete(path)
    expect((await read()).status).toBe(404)
    expect(await threadsOf(owner, { all: true })).toEqual([])
  })

  test('is its reader’s; others hear that it is not theirs only where they see what it is about', async () => {
    const [owner, other] = [await service.createUser(), await service.createUser()]
    const open = await service.createRepository(owner)
    const closed = await service.createRepository(owner, { private: true })
    await owner.client.put(`${closed.path}/collaborators/${other.name}`, { permission: 'read' })
    await write(open, other)
    await service.drain()
    await write(closed, other)
    const [hidden, shown] = await threadsOf(owner)
    await owner.client.delete(`${closed.path}/collaborators/${other.name}`)
    const absent = `/notifications/threads/${Number(hidden?.id) + 100_000}`
    for (const method of ['GET', 'PATCH']) {
      const ask = async (path: string, who = other) => {
        const { status, body } = await sendRaw(method, path, who)
        return [status, JSON.stringify(body)]
      }
      expect(await ask(`/notifications/threads/${shown?.id}`)).toEqual([
        403,
        expect.stringContaining('only user itself'),
      ])
      const neutral = (answer: (string | number | undefined)[]) =>
        answer.map((part) => `${part}`.replace(/id: \d+/, 'id').replace(/"request_id":"[^"]+"/, ''))
      const answer = neutral(await ask(`/notifications/threads/${hidden?.id}`))
      expect(answer).toEqual(neutral(await ask(absent)))
      expect(answer[0]).toBe('404')
      for (const id of ['abc', '0', '9'.repeat(30)]) expect((await ask(`/notifications/threads/${id}`))[0]).toBe(404)
      expect((await ask(`/notifications/threads/${hidden?.id}`, service.admin))[0]).toBe(method === 'GET' ? 200 : 205)
    }
  })
})

describe('lists', () => {
  let owner: TestUser
  let other: TestUser
  let repo: TestRepository
  let quiet: TestRepository
  const names: string[] = []
  beforeAll(async () => {
    owner = await service.createUser()
    other = await service.createUser()
    repo = await service.createRepository(owner)
    quiet = await service.createRepository(owner)
    for (const place of [repo, repo, repo, quiet]) {
      names.unshift((await write(place, other)).title)
      await service.drain()
    }
    const [, read, pinned] = await threadsOf(owner)
    await mark(owner, `/notifications/threads/${read?.id}`, 'PATCH')
    await mark(owner, `/notifications/threads/${pinned?.id}?to-status=pinned`, 'PATCH')
  })
  const [fourth, third, second, first] = [0, 1, 2, 3]

  test.each([
    [{}, [fourth, second, first]],
    [{ all: true }, [fourth, third, second, first]],
    [{ all: 'maybe' }, [fourth, second, first]],
    [{ 'status-types': 'unread' }, [fourth, first]],
    [{ 'status-types': ['read', 'PINNED'] }, [third, second]],
    [{ 'status-types': 'read,pinned' }, [third, second]],
    [{ 'status-types': ['nosuch', 'read'] }, [third]],
    [{ 'status-types': 'nosuch' }, [fourth, third, second, first]],
    [{ 'subject-type': 'issue' }, [fourth, second, first]],
    [{ 'subject-type': ['Issue', 'pull'] }, [fourth, second, first]],
    [{ 'subject-type': 'pull' }, []],
    [{ 'subject-type': ['commit', 'repository'] }, []],
    [{ 'subject-type': 'nosuch' }, [fourth, second, first]],
  ])('have what is asked for: %j', async (query, wanted) => {
    expect(titles(await threadsOf(owner, query))).toEqual(wanted.map((index) => names[index] ?? ''))
  })

  test('are of one repository where its path says so', async () => {
    expect(titles(await threadsOf(owner, {}, repo.path))).toEqual([names[2] ?? '', names[3] ?? ''])
    expect(titles(await threadsOf(owner, { all: true }, quiet.path))).toEqual([names[0] ?? ''])
    expect(await threadsOf(other, { all: true }, repo.path)).toEqual([])
  })

  test('begin and end with the second that clients read', async () => {
    const { sql } = service.context
    const at = '2026-03-01T10:00:00'
    const ids = (await threadsOf(owner, { all: true }, repo.path)).map(({ id }) => id)
    for (const [index, id] of ids.entries())
      await sql`update notifications set updated_at = ${`${at}.${5 - index}00Z`}::timestamptz + ${index} * interval '-1 s' where id = ${id}`
    const asked = async (query: object) =>
      (await threadsOf(owner, { all: true, ...query }, repo.path)).map(({ id }) => ids.indexOf(id))
    expect(await asked({ since: `${at}Z` })).toEqual([0])
    expect(await asked({ since: `${at}.900Z` })).toEqual([0])
    expect(await asked({ since: '2026-03-01T12:00:01+02:00' })).toEqual([])
    expect(await asked({ before: '2026-03-01T09:59:59Z' })).toEqual([1, 2])
    expect(await asked({ before: `${at}Z` })).toEqual([0, 1, 2])
    expect(await asked({ since: '2026-03-01T09:59:59Z', before: '2026-03-01T09:59:59Z' })).toEqual([1])
    const marked = await mark(
      owner,
      `${repo.path}/notifications?all=true&to-status=pinned&last_read_at=2026-03-01T09:59:59Z`,
    )
    expect(marked.map(({ id }) => ids.indexOf(id))).toEqual([1, 2])
    for (const key of ['since', 'before']) {
      const refused = await owner.client.get('/notifications', { [key]: 'yesterday' })
      expect([key, refused.status]).toEqual([key, 422])
    }
    expect((await owner.client.put('/notifications?last_read_at=yesterday')).status).toBe(400)
    expect((await owner.client.put(`${repo.path}/notifications?last_read_at=1`)).status).toBe(400)
    await mark(owner, '/notifications?all=true&to-status=unread')
  })

  test('have pages, and can be walked', async () => {
    const all = await threadsOf(owner)
    expect(all.length).toBe(4)
    const second = await owner.client.get('/notifications', { limit: 1, page: 2 })
    expect(rowsOf(second.body).map(({ id }) => id)).toEqual([all[1]?.id ?? 0])
    expect(second.headers.get('x-total-count')).toBe('4')
    expect(second.headers.get('link')).toContain('rel="next"')
    expect((await owner.client.get('/notifications', { limit: 1, page: 9 })).body).toEqual([])
    const walked: number[] = []
    let path: string | undefined = '/api/v1/notifications?limit=3&cursor='
    while (path !== undefined) {
      const answer = await owner.client.request(path)
      walked.push(...rowsOf(answer.body).map(({ id }) => id))
      path = /<[^>]*?(\/api\/[^>]*)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1]
    }
    expect(walked).toEqual(all.map(({ id }) => id))
  })
})

describe('marks', () => {
  let owner: TestUser
  let repo: TestRepository
  let quiet: TestRepository
  beforeAll(async () => {
    const other = await service.createUser()
    owner = await service.createUser()
    repo = await service.createRepository(owner)
    quiet = await service.createRepository(owner)
    for (const place of [repo, repo, quiet]) {
      await write(place, other)
      await service.drain()
    }
  })
  const states = (rows: Thread[]) => rows.map(({ unread, pinned }) => (unread ? 'unread' : pinned ? 'pinned' : 'read'))

  test('are answered with 205 and what was marked, as it is now', async () => {
    expect(await unreadOf(owner)).toBe(3)
    expect(states(await mark(owner, `${repo.path}/notifications?to-status=pinned`))).toEqual(['pinned', 'pinned'])
    expect(await mark(owner, `${repo.path}/notifications`)).toEqual([])
    expect(states(await threadsOf(owner))).toEqual(['unread', 'pinned', 'pinned'])
    expect(await unreadOf(owner)).toBe(1)
    expect(states(await mark(owner, '/notifications'))).toEqual(['read'])
    expect(await unreadOf(owner)).toBe(0)
    expect(states(await mark(owner, '/notifications?status-types=read&status-types=pinned&to-status=unread'))).toEqual([
      'unread',
      'unread',
      'unread',
    ])
    expect(states(await mark(owner, '/notifications?status-types=nosuch&to-status=nosuch'))).toEqual([
      'read',
      'read',
      'read',
    ])
    expect(await mark(owner, '/notifications?all=false')).toEqual([])
    expect(states(await mark(owner, '/notifications?all=true&to-status=unread'))).toEqual([
      'unread',
      'unread',
      'unread',
    ])
    const ignored = await sendRaw('PUT', '/notifications?status-types=pinned', owner, '{"x":1,"all":true}')
    expect(ignored).toEqual({ status: 205, body: [] })
  })

  test('of one thread come with the thread', async () => {
    const [{ id } = { id: 0 }] = await threadsOf(owner)
    const path = `/notifications/threads/${id}`
    for (const [query, state] of [
      ['', 'read'],
      ['?to-status=pinned', 'pinned'],
      ['?to-status=unread', 'unread'],
      ['?to-status=nosuch', 'read'],
    ] as const) {
      const [thread] = await mark(owner, path + query, 'PATCH')
      expect([thread?.id, thread && states([thread])]).toEqual([id, [state]])
    }
  })

  test('of very many threads are all made, and the newest thousand shown', async () => {
    const { sql } = service.context
    const crowded = await service.createRepository(owner)
    await sql`insert into issues (repository_id, number, title) select ${crowded.id}, n, n from generate_series(1, 1005) n`
    await sql`
      insert into notifications (user_id, repository_id, issue_id, is_pull, event_id, updated_at)
      select (select id from users where name = ${owner.name}), repository_id, id, false, number, now() + number * interval '1 s'
      from issues where repository_id = ${crowded.id}`
    const shown = titles(await mark(owner, `${crowded.path}/notifications`))
    expect([shown.length, shown[0], shown.at(-1)]).toEqual([1000, '1005', '6'])
    expect(await threadsOf(owner, {}, crowded.path)).toEqual([])
    await owner.client.delete(crowded.path)
  })

  test('are possible in an archived repository', async () => {
    await owner.client.patch(quiet.path, { archived: true })
    expect((await mark(owner, `${quiet.path}/notifications?all=true`)).length).toBe(1)
  })
})

describe('what somebody may not see any more', () => {
  let owner: TestUser
  let reader: TestUser
  let kept: TestRepository
  const gone = async (title: string) => {
    expect(titles(await threadsOf(reader, { all: true }))).not.toContain(title)
    const [row] = await service.context.sql`
      select notifications.id from notifications join issues on issues.id = issue_id join users on users.id = user_id
      where title = ${title} and users.name = ${reader.name}`
    const paths = [`/notifications/threads/${row?.id}`]
    for (const path of paths) expect((await reader.client.get(path)).status).toBe(404)
    expect((await sendRaw('PATCH', `/notifications/threads/${row?.id}`, reader)).status).toBe(404)
    expect(titles(await mark(reader, '/notifications?all=true&to-status=unread'))).not.toContain(title)
    // The one in the repository that is left.
    expect(await unreadOf(reader)).toBe(1)
  }
  beforeAll(async () => {
    owner = await service.createUser()
    reader = await service.createUser()
    kept = await service.createRepository(owner)
    await write(kept, owner, { body: `@${reader.name}` })
  })

  test('is gone with a collaboration, and there again with it', async () => {
    const repo = await service.createRepository(owner, { private: true })
    const put = () => owner.client.put(`${repo.path}/collaborators/${reader.name}`, { permission: 'read' })
    await put()
    const { title } = await write(repo, owner, { body: `@${reader.name}` })
    expect(titles(await threadsOf(reader))).toContain(title)
    expect(await unreadOf(reader)).toBe(2)
    await owner.client.delete(`${repo.path}/collaborators/${reader.name}`)
    await gone(title)
    expect((await reader.client.get(`${repo.path}/notifications`)).status).toBe(404)
    await put()
    expect(titles(await threadsOf(reader))).toContain(title)
    await owner.client.delete(repo.path)
  })

  test('is gone when the repository becomes private', async () => {
    const repo = await service.createRepository(owner)
    const { title } = await write(repo, owner, { body: `@${reader.name}` })
    expect(titles(await threadsOf(reader))).toContain(title)
    await owner.client.patch(repo.path, { private: true })
    await gone(title)
  })

  test('is gone when the unit is switched off, for the owner and administrators too', async () => {
    const repo = await service.createRepository(owner)
    const { title } = await write(repo, reader, { body: `@${service.admin.name}` })
    await owner.client.post(`${repo.path}/issues/1/comments`, { body: 'so' })
    for (const who of [reader, owner, service.admin]) expect(titles(await threadsOf(who))).toContain(title)
    await owner.client.patch(repo.path, { has_issues: false })
    await gone(title)
    for (const who of [owner, service.admin]) expect(titles(await threadsOf(who, { all: true }))).not.toContain(title)
    expect(await threadsOf(owner, { all: true }, repo.path)).toEqual([])
    expect(await mark(owner, `${repo.path}/notifications?all=true`)).toEqual([])
  })

  test('is gone with the unit of a team', async () => {
    await owner.client.post('/orgs', { username: 'unit-club' })
    await owner.client.post('/orgs/unit-club/repos', { name: 'plans', private: true })
    const team = await owner.client.post('/orgs/unit-club/teams', {
      name: 'crew',
      permission: 'none',
      units_map: { 'repo.issues': 'read' },
    })
    const path = `/teams/${team.number('id')}`
    await owner.client.put(`${path}/members/${reader.name}`)
    await owner.client.put(`${path}/repos/unit-club/plans`)
    const { title } = await write({ ...kept, path: '/repos/unit-club/plans' }, owner, { body: `@${reader.name}` })
    expect(titles(await threadsOf(reader))).toContain(title)
    expect((await owner.client.patch(path, { units_map: { 'repo.code': 'read' } })).status).toBe(200)
    await gone(title)
    expect(await threadsOf(reader, { all: true }, '/repos/unit-club/plans')).toEqual([])
  })

  test('is nothing to a token for public things', async () => {
    const basic = service.client({ basic: `${owner.name}:${owner.password}` })
    const make = async (scopes: string[], repositories?: object[]) =>
      service.client({
        token: (
          await basic.post(`/users/${owner.name}/tokens`, { name: `t${Math.random()}`, scopes, repositories })
        ).string('sha1'),
      })
    const narrow = await make(['public-only', 'write:notification'])
    const chosen = await make(['write:notification'], [{ owner: owner.name, name: kept.name }])
    for (const client of [narrow, chosen])
      for (const path of ['/notifications', '/notifications/new', '/notifications/threads/1'])
        expect([path, (await client.get(path)).status]).toEqual([path, 403])
    for (const client of [narrow, chosen]) {
      expect((await client.get(`${kept.path}/notifications`)).status).toBe(200)
      expect((await client.put(`${kept.path}/notifications`)).status).toBe(205)
    }
    await owner.client.patch(kept.path, { private: true })
    expect((await narrow.get(`${kept.path}/notifications`)).status).toBe(404)
    expect((await chosen.get(`${kept.path}/notifications`)).status).toBe(200)
  })
})

test('every operation needs somebody, and a token of the one area', async () => {
  const user = await service.createUser()
  const repo = await service.createRepository(user)
  const basic = service.client({ basic: `${user.name}:${user.password}` })
  const make = async (name: string) =>
    service.client({ token: (await basic.post(`/users/${user.name}/tokens`, { name, scopes: [name] })).string('sha1') })
  const [reader, writer] = [await make('read:notification'), await make('write:notification')]
  const outsiders = [await make('write:repository'), await make('write:issue'), await make('write:user')]
  const reads = ['/notifications', '/notifications/new', '/notifications/threads/1', `${repo.path}/notifications`]
  const writes = [
    ['PUT', '/notifications', 205],
    ['PATCH', '/notifications/threads/999999', 404],
    ['PUT', `${repo.path}/notifications`, 205],
  ] as const
  for (const path of reads) {
    expect([path, (await service.anonymous.get(path)).status]).toEqual([path, 401])
    for (const client of outsiders) expect([path, (await client.get(path)).status]).toEqual([path, 403])
    for (const client of [reader, writer]) expect([path, (await client.get(path)).status < 500]).toEqual([path, true])
  }
  for (const [method, path, status] of writes) {
    const ask = async (client: typeof reader) => [path, (await client.request(path, { method })).status]
    expect(await ask(service.anonymous)).toEqual([path, 401])
    for (const client of [...outsiders, reader]) expect(await ask(client)).toEqual([path, 403])
    expect(await ask(writer)).toEqual([path, status])
  }
})
