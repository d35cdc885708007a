import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { BLOCKS_LOCK } from '../../db/locks.ts'
import { findWrongCounters } from '../../src/features/admin/statistics.ts'
import type { Answer } from '../harness/client.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'
import { until } from '../harness/until.ts'

let service: TestService
let alice: TestUser
let bob: TestUser
let repo: TestRepository
beforeAll(async () => {
  service = await startTestService()
  alice = await service.createUser('alice')
  bob = await service.createUser('bob')
  repo = await service.createRepository(alice)
})
afterAll(() => service.stop())

/** Whatever was done at once, every stored number is what it counts. */
afterEach(async () => {
  const wrong = []
  for await (const one of findWrongCounters(service.context.db, new AbortController().signal)) wrong.push(one)
  expect(wrong).toEqual([])
})

/** The same request six times at once; none may fail by the server's fault. Returns the statuses, sorted. */
async function atOnce(send: (index: number) => Promise<Answer>): Promise<number[]> {
  const answers = await Promise.all(Array.from({ length: 6 }, (_, index) => send(index)))
  for (const { status, text } of answers) if (status >= 500) throw new Error(`${status}: ${text}`)
  return answers.map(({ status }) => status).sort((left, right) => left - right)
}

const once = (good: number, others: number) => [good, ...Array.from({ length: 5 }, () => others)].sort((a, b) => a - b)

const countEvents = async (kind: string, ownerId = repo.id) => {
  const [row] = await service.context.sql<{ n: number }[]>`
    select count(*)::int as n from events where kind = ${kind} and repository_id = ${ownerId}`
  return row?.n ?? 0
}
const countAudits = async (action: string) => {
  const [row] = await service.context.sql<{ n: number }[]>`
    select count(*)::int as n from audit_entries where action = ${action}`
  return row?.n ?? 0
}

async function newIssue(option: Record<string, unknown> = {}): Promise<string> {
  const made = await alice.client.post(`${repo.path}/issues`, { title: 'issue', ...option })
  expect(made.status).toBe(201)
  return `${repo.path}/issues/${made.number('number')}`
}

const newMilestone = async () => (await alice.client.post(`${repo.path}/milestones`, { title: 'm' })).number('id')

test('six who delete one issue delete it once', async () => {
  const milestone = await newMilestone()
  const issues = await Promise.all([1, 2, 3, 4].map(() => newIssue({ milestone })))
  const before = await countEvents('issue.deleted')
  const answers = await Promise.all(issues.map((issue) => atOnce(() => alice.client.delete(issue))))
  for (const statuses of answers) expect(statuses).toEqual(once(204, 404))
  expect(await countEvents('issue.deleted')).toBe(before + 4)
})

test('one issue is closed once, by whoever comes first', async () => {
  const issue = await newIssue({ milestone: await newMilestone() })
  const before = await countEvents('issue.closed')
  expect(await atOnce(() => alice.client.patch(issue, { state: 'closed' }))).toEqual(Array(6).fill(201))
  expect(await countEvents('issue.closed')).toBe(before + 1)
})

test('each edit of a comment says what it replaced', async () => {
  const issue = await newIssue()
  const id = (await alice.client.post(`${issue}/comments`, { body: 'text 0' })).number('id')
  const path = `${repo.path}/issues/comments/${id}`
  expect(await atOnce((index) => alice.client.patch(path, { body: `text ${index + 1}` }))).toEqual(Array(6).fill(200))
  const [row] = await service.context.sql`select content_version, body from comments where id = ${id}`
  expect(row?.content_version).toBe(6)
  const events = await service.context.sql<{ old: string }[]>`
    select payload ->> 'oldBody' as old from events
    where kind = 'comment.edited' and (payload ->> 'commentId')::bigint = ${id}`
  const seen = [...events.map(({ old }) => old), row?.body]
  expect(seen.sort()).toEqual(Array.from({ length: 7 }, (_, index) => `text ${index}`))
})

test('six who delete one comment delete it once', async () => {
  const issue = await newIssue()
  const id = (await alice.client.post(`${issue}/comments`, { body: 'text' })).number('id')
  const before = await countEvents('comment.deleted')
  expect(await atOnce(() => alice.client.delete(`${repo.path}/issues/comments/${id}`))).toEqual(once(204, 404))
  expect(await countEvents('comment.deleted')).toBe(before + 1)
})

test('the content version of an issue counts changes of its body', async () => {
  const issue = await newIssue({ body: 'a' })
  expect((await alice.client.patch(issue, { title: 'other' })).number('content_version')).toBe(0)
  expect((await alice.client.patch(issue, { state: 'closed' })).number('content_version')).toBe(0)
  expect((await alice.client.patch(issue, { body: 'b', content_version: 0 })).number('content_version')).toBe(1)
  expect((await alice.client.patch(issue, { body: 'c', content_version: 0 })).status).toBe(409)
})

test('six who star, watch and follow do so once, and stop once', async () => {
  const kinds = [
    { path: `/user/starred/${repo.owner}/${repo.name}`, done: 204 },
    { path: `/repos/${repo.owner}/${repo.name}/subscription`, done: 200 },
    { path: '/user/following/alice', done: 204 },
  ]
  const before = await countEvents('star.added')
  for (const { path, done } of kinds) {
    expect(await atOnce(() => bob.client.put(path))).toEqual(Array(6).fill(done))
    expect(await atOnce(() => bob.client.delete(path))).toEqual(Array(6).fill(204))
    await atOnce((index) => (index % 2 ? bob.client.put(path) : bob.client.delete(path)))
  }
  expect(await countEvents('star.added')).toBeGreaterThanOrEqual(before + 1)
})

test('labels, milestones, hooks, keys and tokens are deleted once', async () => {
  const label = (await alice.client.post(`${repo.path}/labels`, { name: 'x', color: '#aabbcc' })).number('id')
  // Wire: a label that is not there is gone.
  expect(await atOnce(() => alice.client.delete(`${repo.path}/labels/${label}`))).toEqual(once(204, 204))
  expect((await alice.client.get(`${repo.path}/labels/${label}`)).status).toBe(404)
  const milestone = await newMilestone()
  expect(await atOnce(() => alice.client.delete(`${repo.path}/milestones/${milestone}`))).toEqual(once(204, 404))
  const hook = { type: 'gitea', config: { url: 'http://example.com/', content_type: 'json' }, events: ['push'] }
  const hookId = (await alice.client.post(`${repo.path}/hooks`, hook)).number('id')
  expect(await atOnce(() => alice.client.delete(`${repo.path}/hooks/${hookId}`))).toEqual(once(204, 404))
  const key = `ssh-ed25519 ${Buffer.concat([Buffer.from('0000000b7373682d6564323535313900000020', 'hex'), Buffer.alloc(32, 7)]).toString('base64')}`
  const keyId = (await alice.client.post('/user/keys', { title: 'k', key })).number('id')
  expect(await atOnce(() => alice.client.delete(`/user/keys/${keyId}`))).toEqual(once(204, 404))
  expect(await countAudits('public_key.delete')).toBe(1)
})

test('one hook that is changed by six keeps the settings of each', async () => {
  const config = { url: 'https://example.com/', content_type: 'json', channel: '#one' }
  const made = await alice.client.post(`${repo.path}/hooks`, { type: 'slack', config, events: ['push'] })
  const path = `${repo.path}/hooks/${made.number('id')}`
  const changes = [{ username: 'robot' }, { icon_url: 'https://example.com/i.png' }, { color: '#ff0000' }]
  await atOnce((index) => alice.client.patch(path, { config: changes[index % 3] }))
  const found = await alice.client.get(path)
  expect(found.body).toMatchObject({
    config: { username: 'robot', icon_url: 'https://example.com/i.png', color: '#ff0000' },
  })
})

test('a team and its members go once, and are recorded once', async () => {
  await alice.client.post('/orgs', { username: 'band' })
  const option = { name: 'crew', permission: 'read', units: ['repo.code'] }
  const team = (await alice.client.post('/orgs/band/teams', option)).number('id')
  expect(await atOnce(() => alice.client.put(`/teams/${team}/members/bob`))).toEqual(Array(6).fill(204))
  expect(await countAudits('team.add_member')).toBe(1)
  await atOnce(() => bob.client.put('/orgs/band/public_members/bob'))
  expect(await countAudits('organization.publicize_member')).toBe(1)
  await atOnce((index) => alice.client.delete(index % 2 ? '/orgs/band/members/bob' : `/teams/${team}/members/bob`))
  expect((await countAudits('team.remove_member')) + (await countAudits('organization.remove_member'))).toBe(1)
  expect(await atOnce(() => alice.client.delete(`/teams/${team}`))).toEqual(once(204, 404))
  expect(await countAudits('team.delete')).toBe(1)
  expect(await atOnce(() => alice.client.delete('/orgs/band'))).toEqual(once(204, 404))
})

test('people who block and follow each other at once end without a tie', async () => {
  const people = await Promise.all([service.createUser(), service.createUser()])
  const repos = await Promise.all(people.map((person) => service.createRepository(person)))
  const [left, right] = people
  if (!left || !right) throw new Error('two people')
  await atOnce((index) => {
    const [self, other] = index % 2 ? [left, right] : [right, left]
    const theirs = repos[index % 2 ? 1 : 0]
    if (index < 2) return self.client.put(`/user/following/${other.name}`)
    if (index < 4) return self.client.put(`/user/starred/${theirs?.owner}/${theirs?.name}`)
    return self.client.put(`/user/blocks/${other.name}`)
  })
  const ties = await service.context.sql`
    select 1 from follows where follower_id in (select id from users where name in (${left.name}, ${right.name}))
    union all select 1 from stars where user_id in (select id from users where name in (${left.name}, ${right.name}))`
  expect(ties.length).toBe(0)
})

test('topics, collaborators and branches are changed by six at once', async () => {
  expect(await atOnce((index) => alice.client.put(`${repo.path}/topics/topic-${index}`))).toEqual(Array(6).fill(204))
  expect((await alice.client.get(`${repo.path}/topics`)).body).toMatchObject({ topics: { length: 6 } })
  const collaborator = `${repo.path}/collaborators/bob`
  await atOnce((index) =>
    index % 2 ? alice.client.put(collaborator, { permission: 'write' }) : alice.client.delete(collaborator),
  )
  const branch = { new_branch_name: 'next' }
  expect(await atOnce(() => alice.client.post(`${repo.path}/branches`, branch))).toEqual(once(201, 409))
  expect(await atOnce(() => alice.client.delete(`${repo.path}/branches/next`))).toContain(204)
})

test('every name that a repository and an account had leads to it, also of renames at once', async () => {
  const busy = await service.createRepository(alice)
  await atOnce((index) => alice.client.patch(`/repos/alice/${busy.name}`, { name: `${busy.name}-${index}` }))
  for (const name of [busy.name, ...[0, 1, 2, 3, 4, 5].map((index) => `${busy.name}-${index}`)]) {
    const { status } = await alice.client.get(`/repos/alice/${name}`)
    // A rename that came after another one found the old name gone, and was sent to the new one.
    const given = await service.context.sql`
      select 1 from events where kind = 'repository.renamed' and repository_id = ${busy.id} and payload ->> 'name' = ${name}`
    if (name === busy.name || given.length > 0) expect([200, 301]).toContain(status)
  }
})

test('an issue that is closed, opened, planned, commented on and deleted at once leaves nothing behind', async () => {
  const milestones = [await newMilestone(), await newMilestone()]
  const issues = await Promise.all([0, 1, 0, 1].map((index) => newIssue({ milestone: milestones[index] })))
  await Promise.all(
    issues.map((issue, nth) =>
      atOnce((index) => {
        const milestone = milestones[(index + nth) % 2]
        if (index === 5) return alice.client.delete(issue)
        if (index === 4) return bob.client.post(`${issue}/comments`, { body: 'me too' })
        if (index === 3) return alice.client.post(`${repo.path}/issues`, { title: 'another', milestone })
        return alice.client.patch(issue, { state: index === 1 ? 'open' : 'closed', milestone })
      }),
    ),
  )
})

test('six who delete a repository delete it once, while others star, fork and write in it', async () => {
  const doomed = await service.createRepository(alice)
  await Promise.all([1, 2].map(() => bob.client.post(`${doomed.path}/issues`, { title: 'x' })))
  await bob.client.put(`/user/starred/${doomed.owner}/${doomed.name}`)
  const writes = atOnce((index) => {
    if (index === 0) return bob.client.delete(`/user/starred/${doomed.owner}/${doomed.name}`)
    if (index === 1) return bob.client.post(`${doomed.path}/forks`, {})
    if (index === 2) return bob.client.put(`${doomed.path}/subscription`)
    return bob.client.post(`${doomed.path}/issues`, { title: 'y' })
  })
  const deletions = await atOnce(() => alice.client.delete(doomed.path))
  await writes
  expect(deletions).toEqual(once(204, 404))
})

test('six who fork one repository under six names make one fork', async () => {
  const source = await service.createRepository(alice)
  const fork = (index: number) => bob.client.post(`${source.path}/forks`, { name: `${source.name}-${index}` })
  expect(await atOnce(fork)).toEqual(once(202, 409))
  expect((await alice.client.get(source.path)).number('forks_count')).toBe(1)
})

test('one person stars, forks and watches a repository while others comment and its owner edits it', async () => {
  const source = await service.createRepository(alice)
  const issue = await alice.client.post(`${source.path}/issues`, { title: 'x' })
  await atOnce((index) => {
    if (index === 0) return bob.client.put(`/user/starred/${source.owner}/${source.name}`)
    if (index === 1) return bob.client.post(`${source.path}/forks`, {})
    if (index === 2) return bob.client.put(`${source.path}/subscription`)
    if (index === 3) return bob.client.post(`${source.path}/issues/${issue.number('number')}/comments`, { body: 'x' })
    if (index === 4) return alice.client.patch(source.path, { description: 'new', default_branch: 'main' })
    return alice.client.put(`/user/starred/${source.owner}/${source.name}`)
  })
})

test('what comes at the moment of a block waits for it, and is kept out', async () => {
  const { sql } = service.context
  const source = await service.createRepository(alice, { auto_init: true })
  const issue = await alice.client.post(`${source.path}/issues`, { title: 'x' })
  await alice.client.post('/orgs', { username: 'blocking' })
  const units = { units_map: { 'repo.code': 'read' } }
  const team = await alice.client.post('/orgs/blocking/teams', { name: 't', ...units })
  const acts: (() => Promise<Answer>)[] = [
    () => bob.client.post(`${source.path}/issues/${issue.number('number')}/comments`, { body: 'x' }),
    () => bob.client.post(`${source.path}/forks`, {}),
    () => alice.client.put(`/teams/${team.number('id')}/members/bob`),
  ]
  for (const act of acts) {
    const held = await sql.reserve()
    await held`begin`
    await held`select pg_advisory_xact_lock(${BLOCKS_LOCK}::integer, id::integer) from users where lower_name = 'bob'`
    await held`insert into blocks (blocker_id, blocked_id, note) select o.id, b.id, '' from users o, users b
      where o.lower_name in ('alice', 'blocking') and b.lower_name = 'bob'`
    const answer = act()
    let isAnswered = false
    void answer.then(() => {
      isAnswered = true
    })
    const isWaiting = async () =>
      (
        await sql`select from pg_locks where locktype = 'advisory' and classid = ${BLOCKS_LOCK} and not granted
        and database = (select oid from pg_database where datname = current_database())`
      ).length > 0
    await until(async () => isAnswered || (await isWaiting()), 'it waits for the block')
    await held`commit`
    held.release()
    expect((await answer).status).toBe(403)
    await sql`delete from blocks`
  }
})

test('people and the repositories that they star go at once', async () => {
  const repositories = await Promise.all(Array.from({ length: 5 }, () => service.createRepository(alice)))
  const people = await Promise.all(Array.from({ length: 5 }, () => service.createUser()))
  const stars = people.flatMap((person) =>
    repositories.map(({ owner, name }) => ({ person, path: `${owner}/${name}` })),
  )
  for (const { person, path } of stars) {
    expect((await person.client.put(`/user/starred/${path}`)).status).toBe(204)
    expect((await person.client.put(`/repos/${path}/subscription`)).status).toBe(200)
    expect((await person.client.post(`/repos/${path}/issues`, { title: 'x' })).status).toBe(201)
  }
  const gone = await Promise.all([
    ...people.map(({ name }) => service.admin.client.delete(`/admin/users/${name}?purge=true`)),
    ...repositories.map(({ path }) => alice.client.delete(path)),
  ])
  expect(gone.map(({ status }) => status)).toEqual(gone.map(() => 204))
})
