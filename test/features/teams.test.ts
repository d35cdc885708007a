import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { objectOf, parseJson } from '../../src/http/openapi/json.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let owner: TestUser
let member: TestUser
let outsider: TestUser

beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  member = await service.createUser()
  outsider = await service.createUser()
})
afterAll(() => service.stop())

let counter = 0
async function organization(option: Record<string, unknown> = {}): Promise<string> {
  counter += 1
  const name = `org${counter}`
  expect((await owner.client.post('/orgs', { username: name, ...option })).status).toBe(201)
  return name
}

async function team(org: string, option: Record<string, unknown> = {}): Promise<number> {
  counter += 1
  const json = { name: `team${counter}`, permission: 'read', units: ['repo.code'], ...option }
  const answer = await owner.client.post(`/orgs/${org}/teams`, json)
  expect([answer.status, answer.text]).toEqual([201, answer.text])
  return answer.number('id')
}

async function ownersOf(org: string): Promise<number> {
  return (await owner.client.get(`/orgs/${org}/teams`)).number('0.id')
}

const names = (body: unknown) => (Array.isArray(body) ? body.map(({ name, login }) => name ?? login) : body)

describe('the rights of a team', () => {
  test('are those of its units, by a map or by one word', async () => {
    const org = await organization()
    const path = `/orgs/${org}/teams`
    const words = await owner.client.post(path, { name: 'w', permission: 'write', units: ['repo.code', 'repo.issues'] })
    expect(words.body).toMatchObject({
      permission: 'none',
      units_map: { 'repo.code': 'write', 'repo.issues': 'write' },
      organization: { name: org },
    })
    const units_map = { 'repo.code': 'admin', 'repo.wiki': 'none' }
    const map = await owner.client.post(path, { name: 'm', units_map, units: ['repo.pulls'] })
    expect(map.body).toMatchObject({ permission: 'none', units_map, visibility: 'public' })
    const admins = await owner.client.post(path, { name: 'a', permission: 'admin' })
    expect(admins.body).toMatchObject({ permission: 'admin', can_create_org_repo: true })
    expect(admins.body).toMatchObject({ units_map: { 'repo.packages': 'admin' } })
    const bare = await owner.client.post(path, { name: 'b', units: ['repo.code'] })
    expect(bare.body).toMatchObject({ units_map: { 'repo.code': 'read' } })
  })

  test('are refused when they reach nothing or are no rights', async () => {
    const path = `/orgs/${await organization()}/teams`
    for (const json of [
      { name: 'x', permission: 'read' },
      { name: 'x' },
      { name: 'x', units: [] },
      { name: 'x', units: ['repo.nothing'] },
      { name: 'x', units_map: { 'repo.code': 'rule' } },
      { name: 'x', units_map: { nothing: 'read' } },
      { name: 'x', permission: 'owner', units: ['repo.code'] },
      { name: 'a b', permission: 'admin' },
      { name: '..', permission: 'admin' },
      { name: 'x'.repeat(256), permission: 'admin' },
      { name: 'x', permission: 'admin', description: 'x'.repeat(256) },
      { name: 'x', permission: 'admin', visibility: 'hidden' },
      { permission: 'admin' },
    ])
      expect([json, (await owner.client.post(path, json)).status]).toEqual([json, 422])
    expect((await owner.client.get(path)).headers.get('x-total-count')).toBe('1')
  })

  test('change with what is given only', async () => {
    const org = await organization()
    const id = await team(org, { permission: 'write', units: ['repo.code', 'repo.wiki'], description: 'old' })
    const path = `/teams/${id}`
    const change = (json: unknown) => owner.client.patch(path, json)
    expect((await change({ description: 'new' })).body).toMatchObject({
      description: 'new',
      units_map: { 'repo.wiki': 'write' },
    })
    expect((await change({ permission: 'read' })).body).toMatchObject({
      units_map: { 'repo.code': 'read', 'repo.wiki': 'read' },
    })
    expect((await change({ units: ['repo.pulls'] })).body).toMatchObject({ units: ['repo.pulls'] })
    expect((await change({ permission: 'admin' })).body).toMatchObject({ permission: 'admin' })
    expect((await change({ permission: 'write' })).status).toBe(422)
    expect((await change({ description: '' })).body).toMatchObject({ permission: 'admin', description: '' })
    const back = await change({ permission: 'write', units_map: { 'repo.code': 'read' }, can_create_org_repo: false })
    expect(back.body).toMatchObject({ units_map: { 'repo.code': 'read' }, can_create_org_repo: false })
    expect((await change({ units_map: { 'repo.code': 'rule' } })).status).toBe(422)
    expect((await change({ name: 'OWNERS' })).status).toBe(422)
    expect((await owner.client.get(path)).body).toEqual(back.body)
  })

  test('hold for the repositories it reaches', async () => {
    const org = await organization()
    await owner.client.post(`/orgs/${org}/repos`, { name: 'secret', private: true })
    await owner.client.post(`/orgs/${org}/repos`, { name: 'other', private: true })
    const person = await service.createUser()
    const id = await team(org, { units_map: { 'repo.code': 'write' } })
    const see = async (name: string) => (await person.client.get(`/repos/${org}/${name}`)).status
    await owner.client.put(`/teams/${id}/members/${person.name}`)
    expect(await see('secret')).toBe(404)
    expect((await owner.client.put(`/teams/${id}/repos/${org}/secret`)).status).toBe(204)
    expect([await see('secret'), await see('other')]).toEqual([200, 404])
    expect((await person.client.get(`/repos/${org}/secret/issues`)).status).toBe(404)
    expect(names((await person.client.get(`/teams/${id}/repos`)).body)).toEqual(['secret'])
    expect((await person.client.get(`/teams/${id}/repos/${org}/secret`)).status).toBe(200)
    expect((await owner.client.get(`/teams/${id}/repos/${org}/other`)).status).toBe(404)
    await owner.client.patch(`/teams/${id}`, { includes_all_repositories: true })
    expect(await see('other')).toBe(200)
    expect((await owner.client.delete(`/teams/${id}/repos/${org}/other`)).status).toBe(422)
    await owner.client.patch(`/teams/${id}`, { includes_all_repositories: false })
    expect((await owner.client.delete(`/teams/${id}/repos/${org}/secret`)).status).toBe(204)
    expect(await see('secret')).toBe(404)
  })
})

describe('the names of teams', () => {
  test('are taken in any letter case, and are free in another organization', async () => {
    const [one, other] = [await organization(), await organization()]
    await team(one, { name: 'Devs' })
    const again = await owner.client.post(`/orgs/${one}/teams`, { name: 'dEVS', permission: 'admin' })
    expect([again.status, again.string('message')]).toEqual([422, expect.stringContaining('team already exists')])
    await team(other, { name: 'Devs' })
    expect((await owner.client.post(`/orgs/${one}/teams`, { name: 'owners', permission: 'admin' })).status).toBe(422)
  })

  test('are searched with the descriptions unless told otherwise, wildcards taken as they are', async () => {
    const org = await organization()
    await team(org, { name: 'red_one', description: 'about blue' })
    await team(org, { name: 'redXone' })
    const search = async (query: Record<string, string>) => {
      const answer = await owner.client.get(`/orgs/${org}/teams/search`, query)
      expect(answer.body).toMatchObject({ ok: true })
      return answer.body instanceof Object && 'data' in answer.body ? names(answer.body.data) : undefined
    }
    expect(await search({ q: 'RED_' })).toEqual(['red_one'])
    expect(await search({ q: 'blue' })).toEqual(['red_one'])
    expect(await search({ q: 'blue', include_desc: 'false' })).toEqual([])
    expect(await search({})).toEqual(['Owners', 'red_one', 'redXone'])
  })
})

describe('the owners', () => {
  test('are neither deleted nor demoted nor renamed', async () => {
    const id = await ownersOf(await organization())
    expect((await owner.client.delete(`/teams/${id}`)).status).toBe(422)
    for (const json of [
      { permission: 'read' },
      { permission: 'none' },
      { units: ['repo.code'] },
      { units_map: { 'repo.code': 'none' } },
      { units_map: { 'repo.nothing': 'owner' } },
      { includes_all_repositories: false },
      { can_create_org_repo: false },
      { name: 'Others' },
    ])
      expect([json, (await owner.client.patch(`/teams/${id}`, json)).status]).toEqual([json, 422])
    const kept = await owner.client.patch(`/teams/${id}`, { description: 'us' })
    expect(kept.body).toMatchObject({
      name: 'Owners',
      permission: 'owner',
      description: 'us',
      can_create_org_repo: true,
    })
  })

  test('may be written back as they were read', async () => {
    const org = await organization()
    const id = await ownersOf(org)
    const read = await owner.client.get(`/teams/${id}`)
    const known = objectOf(parseJson(read.text))
    const change = (json: object) => owner.client.patch(`/teams/${id}`, { ...known, ...json })
    expect((await change({ description: 'us' })).body).toEqual({ ...known, description: 'us' })
    const short = { permission: 'admin', units: [], units_map: {} }
    expect((await change(short)).body).toEqual(read.body)
    expect((await owner.client.patch(`/teams/${await team(org)}`, { permission: 'owner' })).status).toBe(422)
  })

  test('never become none', async () => {
    const org = await organization()
    const id = await ownersOf(org)
    const leave = () => owner.client.delete(`/teams/${id}/members/${owner.name}`)
    expect((await leave()).status).toBe(422)
    expect((await owner.client.delete(`/orgs/${org}/members/${owner.name}`)).status).toBe(422)
    await owner.client.put(`/teams/${id}/members/${member.name}`)
    const both = await Promise.all([leave(), member.client.delete(`/teams/${id}/members/${member.name}`)])
    expect(both.map(({ status }) => status).sort()).toEqual([204, 422])
    expect((await service.admin.client.get(`/teams/${id}/members`)).headers.get('x-total-count')).toBe('1')
  })
})

describe('members', () => {
  test('may be people who hide, when an owner names them exactly', async () => {
    const id = await team(await organization())
    const hidden = await service.createUser()
    const settings = { login_name: hidden.name, source_id: 0, visibility: 'private' }
    await service.admin.client.patch(`/admin/users/${hidden.name}`, settings)
    const path = `/teams/${id}/members/${hidden.name}`
    expect((await owner.client.delete(path)).status).toBe(404)
    expect((await owner.client.put(path)).status).toBe(204)
    expect((await owner.client.get(path)).status).toBe(200)
    expect((await owner.client.delete(path)).status).toBe(204)
    expect((await owner.client.get(path)).status).toBe(404)
    expect((await owner.client.put(`/teams/${id}/members/nobody-at-all`)).status).toBe(404)
  })

  test('come and go, and with the last team they leave the organization', async () => {
    const org = await organization()
    const id = await team(org)
    const path = `/teams/${id}/members`
    expect((await owner.client.get(`${path}/${member.name}`)).status).toBe(404)
    expect((await owner.client.put(`${path}/${member.name.toUpperCase()}`)).status).toBe(204)
    expect((await owner.client.put(`${path}/${member.name}`)).status).toBe(204)
    expect((await member.client.get(`${path}/${member.name}`)).string('login')).toBe(member.name)
    expect(names((await member.client.get(path)).body)).toEqual([member.name])
    expect((await member.client.get(`/orgs/${org}/members/${member.name}`)).status).toBe(204)
    const own = await member.client.get('/user/teams')
    expect(own.body).toContainEqual(
      expect.objectContaining({ id, organization: expect.objectContaining({ name: org }) }),
    )
    expect((await owner.client.delete(`${path}/${member.name}`)).status).toBe(204)
    expect((await owner.client.delete(`${path}/${member.name}`)).status).toBe(204)
    expect((await owner.client.get(`/orgs/${org}/members/${member.name}`)).status).toBe(404)
    expect((await owner.client.put(`${path}/nobody-at-all`)).status).toBe(404)
    expect((await owner.client.delete(`${path}/nobody-at-all`)).status).toBe(404)
    expect((await owner.client.put(`${path}/${org}`)).status).toBe(422)
    await owner.client.put(`/orgs/${org}/blocks/${member.name}`)
    expect((await owner.client.put(`${path}/${member.name}`)).status).toBe(403)
  })

  test('see the teams that do not hide', async () => {
    const org = await organization()
    const mine = await team(org, { name: 'mine' })
    const open = await team(org, { name: 'open' })
    const hidden = await team(org, { name: 'hidden', visibility: 'private' })
    const person = await service.createUser()
    await owner.client.put(`/teams/${mine}/members/${person.name}`)
    const status = async (id: number, who: TestUser) => (await who.client.get(`/teams/${id}`)).status
    expect(names((await person.client.get(`/orgs/${org}/teams`)).body)).toEqual(['Owners', 'mine', 'open'])
    expect([await status(mine, person), await status(open, person), await status(hidden, person)]).toEqual([
      200, 403, 404,
    ])
    expect(names((await owner.client.get(`/orgs/${org}/teams`)).body)).toEqual(['Owners', 'hidden', 'mine', 'open'])
  })
})

describe('who is no owner', () => {
  test('changes nothing', async () => {
    const org = await organization()
    const id = await team(org)
    await owner.client.put(`/teams/${id}/members/${member.name}`)
    const attempts = (who: TestUser) =>
      Promise.all([
        who.client.patch(`/teams/${id}`, { description: 'x' }),
        who.client.delete(`/teams/${id}`),
        who.client.put(`/teams/${id}/members/${outsider.name}`),
        who.client.delete(`/teams/${id}/members/${member.name}`),
      ])
    for (const { status } of await attempts(member)) expect(status).toBe(403)
    for (const { status, text } of await attempts(outsider))
      expect([status, text]).toEqual([404, expect.stringContaining('not found')])
    expect((await member.client.post(`/orgs/${org}/teams`, { name: 'x', permission: 'admin' })).status).toBe(403)
    expect((await outsider.client.get(`/orgs/${org}/teams`)).status).toBe(403)
    expect((await outsider.client.get(`/orgs/${org}/teams/search`)).status).toBe(403)
    expect((await service.anonymous.get(`/teams/${id}`)).status).toBe(401)
    expect((await service.anonymous.get('/user/teams')).status).toBe(401)
  })

  test('cannot tell a hidden team from none', async () => {
    const id = await team(await organization({ visibility: 'private' }))
    const all = await Promise.all([id, 999_999, 'abc'].map((one) => outsider.client.get(`/teams/${one}`)))
    const told = all.map(({ status, text }) => [status, text.replace(/"request_id":"[^"]+"/, '')])
    expect(told[0]?.[0]).toBe(404)
    expect(told[1]).toEqual(told[0])
    expect(told[2]).toEqual(told[0])
  })

  test('reaches no repository of another organization through a team', async () => {
    const [one, other] = [await organization(), await organization()]
    await owner.client.post(`/orgs/${other}/repos`, { name: 'theirs' })
    const id = await team(one)
    for (const path of [`/teams/${id}/repos/${other}/theirs`, `/teams/${id}/repos/${one}/theirs`])
      expect((await owner.client.put(path)).status).toBe(404)
    expect((await owner.client.get(`/teams/${id}/repos`)).body).toEqual([])
  })

  test('gives teams access only where the organization lets its administrators', async () => {
    const org = await organization()
    await owner.client.post(`/orgs/${org}/repos`, { name: 'r' })
    const id = await team(org, { name: 'devs' })
    await owner.client.put(`/teams/${id}/members/${member.name}`)
    await owner.client.put(`/repos/${org}/r/collaborators/${member.name}`, { permission: 'admin' })
    const give = () => member.client.put(`/teams/${id}/repos/${org}/r`)
    expect([(await give()).status, (await member.client.put(`/repos/${org}/r/teams/devs`)).status]).toEqual([403, 403])
    await owner.client.patch(`/orgs/${org}`, { repo_admin_change_team_access: true })
    expect((await give()).status).toBe(204)
    await owner.client.put(`/repos/${org}/r/collaborators/${member.name}`, { permission: 'write' })
    expect((await member.client.delete(`/teams/${id}/repos/${org}/r`)).status).toBe(403)
  })
})
