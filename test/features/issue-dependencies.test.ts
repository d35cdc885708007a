import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Client } from '../harness/client.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let owner: TestUser
let writer: TestUser
let reader: TestUser
let repo: TestRepository
let second: TestRepository
let secret: TestRepository
beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  writer = await service.createUser()
  reader = await service.createUser()
  repo = await service.createRepository(owner)
  second = await service.createRepository(owner)
  secret = await service.createRepository(owner, { private: true })
  await owner.client.put(`${repo.path}/collaborators/${writer.name}`, { permission: 'write' })
})
afterAll(() => service.stop())

interface Named {
  repo: TestRepository
  index: number
}

async function make(of = repo, title = 'an issue'): Promise<Named> {
  const made = await owner.client.post(`${of.path}/issues`, { title })
  return { repo: of, index: made.number('number') }
}

type Side = 'dependencies' | 'blocks'
const pathOf = ({ repo, index }: Named) => `${repo.path}/issues/${index}`
const metaOf = ({ repo, index }: Named) => ({ owner: repo.owner, repo: repo.name, index })
const add = (client: Client, side: Side, own: Named, other: object) => client.post(`${pathOf(own)}/${side}`, other)
const remove = (client: Client, side: Side, own: Named, other: Named) =>
  client.request(`${pathOf(own)}/${side}`, { method: 'DELETE', json: metaOf(other) })
/** That the one waits for the other. */
const waits = (own: Named, other: Named, client = owner.client) => add(client, 'dependencies', own, metaOf(other))

async function listed(own: Named, side: Side = 'dependencies', client: Client = service.anonymous): Promise<string[]> {
  const { status, body } = await client.get(`${pathOf(own)}/${side}`)
  expect(status).toBe(200)
  return Array.isArray(body) ? body.map(({ number, repository }) => `${repository.name}#${number}`) : []
}
const nameOf = ({ repo, index }: Named) => `${repo.name}#${index}`

async function history({ repo, index }: Named): Promise<{ kind: unknown; number: unknown }[]> {
  const rows = await service.context.sql`
    select c.kind, other.number from comments c join issues i on i.id = c.issue_id
    left join issues other on other.id = c.dependent_issue_id
    where i.repository_id = ${repo.id} and i.number = ${index} order by c.id`
  return rows.map(({ kind, number }) => ({ kind, number }))
}

test('an issue waits for another one, which is told on both sides', async () => {
  const [one, two, three] = [await make(), await make(), await make()]
  const made = await add(owner.client, 'dependencies', one, {
    owner: repo.owner.toUpperCase(),
    repo: repo.name.toUpperCase(),
    index: two.index,
  })
  expect([made.status, made.number('number')]).toEqual([201, one.index])
  expect((await add(writer.client, 'blocks', one, metaOf(three))).number('number')).toBe(one.index)
  expect(await listed(one)).toEqual([nameOf(two)])
  expect(await listed(one, 'blocks')).toEqual([nameOf(three)])
  expect([await listed(two), await listed(two, 'blocks')]).toEqual([[], [nameOf(one)]])
  expect(await listed(three)).toEqual([nameOf(one)])
  const again = await waits(one, two)
  expect(again.status).toBe(409)
  const gone = await remove(writer.client, 'blocks', one, three)
  expect([gone.status, gone.number('number')]).toEqual([201, one.index])
  expect((await remove(owner.client, 'dependencies', one, two)).status).toBe(201)
  for (const side of ['dependencies', 'blocks'] as const) expect(await listed(one, side)).toEqual([])
  expect((await remove(owner.client, 'dependencies', one, two)).status).toBe(404)
  expect((await remove(owner.client, 'blocks', one, three)).status).toBe(404)
  expect(await history(one)).toEqual([
    { kind: 'add_dependency', number: two.index },
    { kind: 'add_dependency', number: three.index },
    { kind: 'remove_dependency', number: three.index },
    { kind: 'remove_dependency', number: two.index },
  ])
  expect(await history(two)).toEqual(
    ['add_dependency', 'remove_dependency'].map((kind) => ({ kind, number: one.index })),
  )
  // What happened is no comment.
  expect((await owner.client.get(pathOf(one))).number('comments')).toBe(0)
})

test('an issue that waits cannot be closed, and nothing of the change is kept', async () => {
  const [one, two] = [await make(), await make(second)]
  await waits(one, two)
  const refused = await owner.client.patch(pathOf(one), { state: 'closed', title: 'other', body: 'other' })
  expect(refused.status).toBe(412)
  expect((await owner.client.get(pathOf(one))).body).toMatchObject({ state: 'open', title: 'an issue', body: '' })
  expect((await owner.client.patch(pathOf(one), { title: 'other' })).status).toBe(201)
  // Where the repository has them switched off, closing is free, and so are they forgotten while it is so.
  const tracker = { enable_time_tracker: true, allow_only_contributors_to_track_time: true }
  const set = (isOn: boolean) =>
    owner.client.patch(repo.path, {
      has_issues: true,
      internal_tracker: { ...tracker, enable_issue_dependencies: isOn },
    })
  await set(false)
  expect((await owner.client.patch(pathOf(one), { state: 'closed' })).status).toBe(201)
  for (const side of ['dependencies', 'blocks'] as const) {
    expect((await owner.client.get(`${pathOf(one)}/${side}`)).status).toBe(404)
    expect((await add(owner.client, side, one, metaOf(two))).status).toBe(404)
    expect((await remove(owner.client, side, one, two)).status).toBe(404)
  }
  // The one that waits decides, wherever it is asked.
  expect((await add(owner.client, 'blocks', two, metaOf(one))).status).toBe(404)
  await owner.client.patch(pathOf(one), { state: 'open' })
  await set(true)
  expect((await owner.client.patch(pathOf(one), { state: 'closed' })).status).toBe(412)
  await owner.client.patch(pathOf(two), { state: 'closed' })
  expect((await owner.client.patch(pathOf(one), { state: 'closed' })).status).toBe(201)
})

test('no issue waits for itself, be it by way of others', async () => {
  const [one, two, three] = [await make(), await make(second), await make()]
  expect((await waits(one, one)).status).toBe(422)
  expect((await add(owner.client, 'blocks', one, metaOf(one))).status).toBe(422)
  await waits(one, two)
  expect((await waits(two, one)).status).toBe(422)
  await waits(two, three)
  expect((await waits(three, one)).status).toBe(422)
  expect((await add(owner.client, 'blocks', one, metaOf(three))).status).toBe(422)
  expect(await listed(three)).toEqual([])
  expect((await waits(one, three)).status).toBe(201)
})

test('twenty at once close no circle and write nothing twice', async () => {
  const ring: Named[] = []
  for (let n = 0; n < 10; n += 1) ring.push(await make(n % 2 ? second : repo))
  // Each link is asked for twice, and the last one would close the circle.
  const asked = await Promise.all(
    [...ring, ...ring].map((own, n) => waits(own, ring[(n + 1) % 10] ?? own).then(({ status }) => status)),
  )
  const count = (status: number) => asked.filter((one) => one === status).length
  expect([count(201), count(201) + count(409) + count(422)]).toEqual([9, 20])
  const held = await Promise.all(ring.map((own) => listed(own)))
  expect(held.filter(({ length }) => length === 1)).toHaveLength(9)
  const rows = await Promise.all(ring.map(history))
  expect(rows.flat().filter(({ kind }) => kind === 'add_dependency')).toHaveLength(18)
})

test('closing and adding at once never leave a closed issue that waits', async () => {
  for (let round = 0; round < 5; round += 1) {
    const [one, two] = [await make(), await make()]
    const [closed, added] = await Promise.all([
      owner.client.patch(pathOf(one), { state: 'closed' }),
      waits(one, two, writer.client),
    ])
    expect(added.status).toBe(201)
    expect([201, 412]).toContain(closed.status)
    // The history tells which was first.
    const kinds = (await history(one)).map(({ kind }) => kind)
    expect(kinds).toEqual(closed.status === 201 ? ['close', 'add_dependency'] : ['add_dependency'])
  }
})

test('an issue of another repository is named to those alone who may see it', async () => {
  const [one, elsewhere, hidden, older] = [await make(), await make(second), await make(secret), await make()]
  for (const other of [elsewhere, hidden, older]) expect((await waits(one, other)).status).toBe(201)
  expect(await listed(one, 'dependencies', owner.client)).toEqual([nameOf(older), nameOf(hidden), nameOf(elsewhere)])
  for (const client of [service.anonymous, reader.client, writer.client]) {
    const { headers, text } = await client.get(`${pathOf(one)}/dependencies`)
    expect(headers.get('x-total-count')).toBe('2')
    expect(text).not.toContain(secret.name)
    expect(await listed(one, 'dependencies', client)).toEqual([nameOf(older), nameOf(elsewhere)])
  }
  expect(await listed(elsewhere, 'blocks')).toEqual([nameOf(one)])
  expect(await listed(hidden, 'blocks', owner.client)).toEqual([nameOf(one)])
  const paged = await owner.client.get(`${pathOf(one)}/dependencies?limit=2&page=2`)
  expect([paged.number('0.number'), paged.headers.get('x-total-count')]).toEqual([elsewhere.index, '3'])
  expect(paged.headers.get('link')).toContain('rel="first"')
  const blocks = await owner.client.get(`${pathOf(elsewhere)}/blocks?limit=1`)
  expect([blocks.headers.get('x-total-count'), blocks.headers.get('link')]).toEqual([null, null])
})

test('whoever may write the one that waits and see the other links them', async () => {
  const [one, two, hidden, elsewhere] = [await make(), await make(), await make(secret), await make(second)]
  for (const side of ['dependencies', 'blocks'] as const) {
    expect((await add(reader.client, side, one, metaOf(two))).status).toBe(404)
    expect((await add(service.anonymous, side, one, metaOf(two))).status).toBe(401)
    expect((await remove(service.anonymous, side, one, two)).status).toBe(401)
    expect((await add(writer.client, side, hidden, metaOf(one))).status).toBe(404)
  }
  // What is hidden is told as what is not there.
  const told = async (other: object) => {
    const { status, text } = await add(writer.client, 'dependencies', one, other)
    return `${status} ${text.replace(/"request_id":"[^"]+"/, '')}`
  }
  const secretOne = await told(metaOf(hidden))
  expect(secretOne).toStartWith('404 ')
  const unknown = [
    { ...metaOf(hidden), index: 999 },
    { ...metaOf(hidden), repo: 'nothing' },
    { ...metaOf(hidden), owner: 'nobody' },
    { ...metaOf(two), index: 999 },
    { ...metaOf(two), index: -1 },
    {},
  ]
  for (const other of unknown) expect(await told(other)).toBe(secretOne)
  // Others' issues may be waited for, and do not wait for it unasked.
  expect((await waits(one, elsewhere, writer.client)).status).toBe(201)
  expect((await add(writer.client, 'blocks', two, metaOf(elsewhere))).status).toBe(404)
  expect((await add(writer.client, 'blocks', elsewhere, metaOf(two))).status).toBe(201)
  expect((await remove(reader.client, 'dependencies', one, elsewhere)).status).toBe(404)
  expect((await remove(reader.client, 'blocks', elsewhere, one)).status).toBe(404)
  expect(await listed(one)).toEqual([nameOf(elsewhere)])
})

test('a token for chosen repositories writes to none but these', async () => {
  const [one, elsewhere] = [await make(), await make(second)]
  const basic = service.client({ basic: `${owner.name}:${owner.password}` })
  const chosen = await basic.post(`/users/${owner.name}/tokens`, {
    name: 'chosen',
    scopes: ['all'],
    repositories: [{ owner: owner.name, name: repo.name }],
  })
  const limited = service.client({ token: chosen.string('sha1') })
  expect((await waits(one, elsewhere, limited)).status).toBe(403)
  expect((await add(limited, 'blocks', one, metaOf(elsewhere))).status).toBe(403)
  expect((await waits(one, await make(), limited)).status).toBe(201)
})

test('what cannot be read is refused, and nothing is changed', async () => {
  const one = await make()
  for (const side of ['dependencies', 'blocks'] as const) {
    for (const index of ['5', 1.5, {}])
      expect((await add(owner.client, side, one, { ...metaOf(one), index })).status).toBe(422)
    const broken = await owner.client.request(`${pathOf(one)}/${side}`, { method: 'POST', body: '{' })
    expect(broken.status).toBe(422)
    for (const path of [`${repo.path}/issues/999`, `${repo.path}/issues/one`]) {
      expect((await owner.client.get(`${path}/${side}`)).status).toBe(404)
      expect((await owner.client.post(`${path}/${side}`, metaOf(one))).status).toBe(404)
    }
    expect(await listed(one, side)).toEqual([])
  }
})

test('an archived repository keeps its links, and others may wait for its issues', async () => {
  const old = await service.createRepository(owner)
  const [kept, other, one] = [await make(old), await make(old), await make()]
  await waits(kept, other)
  await owner.client.patch(old.path, { archived: true })
  expect((await waits(kept, one)).status).toBe(423)
  expect((await remove(owner.client, 'dependencies', kept, other)).status).toBe(423)
  expect((await add(owner.client, 'blocks', one, metaOf(kept))).status).toBe(423)
  expect(await listed(kept)).toEqual([nameOf(other)])
  expect((await waits(one, kept)).status).toBe(201)
  expect((await remove(owner.client, 'dependencies', one, kept)).status).toBe(201)
})

test('a hundred are enough, and a link goes with either of its issues', async () => {
  const [one, two] = [await make(), await make()]
  const { sql } = service.context
  await sql`insert into issues (repository_id, number, title)
    select ${second.id}, 1000 + n, 'many' from generate_series(1, 100) n`
  const idOf = sql`select id from issues where repository_id = ${repo.id} and number = ${one.index}`
  await sql`insert into issue_dependencies (issue_id, dependency_id)
    select (${idOf}), id from issues where repository_id = ${second.id} and number > 1000`
  expect((await waits(one, two)).status).toBe(422)
  await owner.client.delete(`${second.path}/issues/1001`)
  expect((await waits(one, two)).status).toBe(201)
  await owner.client.delete(pathOf(one))
  expect(await listed(two, 'blocks')).toEqual([])
  expect((await history(two)).at(-1)).toEqual({ kind: 'add_dependency', number: null })
})
