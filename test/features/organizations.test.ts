import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
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
/** With `member` in a team of its own. */
async function organization(option: Record<string, unknown> = {}): Promise<string> {
  counter += 1
  const name = `company${counter}`
  expect((await owner.client.post('/orgs', { username: name, ...option })).status).toBe(201)
  const team = await owner.client.post(`/orgs/${name}/teams`, { name: 'staff', units: ['repo.code'] })
  await owner.client.put(`/teams/${team.number('id')}/members/${member.name}`)
  return name
}

const names = (body: unknown) => (Array.isArray(body) ? body.map(({ name, login }) => name ?? login) : body)

describe('another name', () => {
  test('is taken with everything below it, and the old one leads on until somebody takes it', async () => {
    const old = await organization()
    await owner.client.post(`/orgs/${old}/repos`, { name: 'r', auto_init: true })
    const renamed = `${old}-new`
    expect((await owner.client.post(`/orgs/${old}/rename`, { new_name: renamed })).status).toBe(204)
    expect((await owner.client.get(`/orgs/${renamed}`)).string('name')).toBe(renamed)
    expect((await owner.client.get(`/repos/${renamed}/r`)).string('full_name')).toBe(`${renamed}/r`)
    for (const path of [`/orgs/${old}`, `/repos/${old}/r`, `/users/${old}`]) {
      const moved = await owner.client.get(path)
      expect([path, moved.status, moved.headers.get('location')]).toEqual([
        path,
        307,
        `/api/v1${path.replace(old, renamed)}`,
      ])
    }
    expect((await owner.client.post('/orgs', { username: old })).status).toBe(201)
    expect((await owner.client.get(`/repos/${old}/r`)).status).toBe(404)
  })

  test('is refused when it is taken, reserved or no name, and to all but owners', async () => {
    const org = await organization()
    const rename = (who: TestUser, json: unknown) => who.client.post(`/orgs/${org}/rename`, json)
    for (const new_name of [member.name, member.name.toUpperCase(), 'user', 'a b', 'x.keys', 'x'.repeat(41), '', '..'])
      expect([new_name, (await rename(owner, { new_name })).status]).toEqual([new_name, 422])
    expect((await rename(owner, {})).status).toBe(422)
    for (const who of [member, outsider]) expect((await rename(who, { new_name: `${org}x` })).status).toBe(403)
    expect((await service.anonymous.post(`/orgs/${org}/rename`, { new_name: 'x' })).status).toBe(401)
    expect((await rename(owner, { new_name: org.toUpperCase() })).status).toBe(204)
    expect((await owner.client.get(`/orgs/${org}`)).string('name')).toBe(org.toUpperCase())
  })
})

describe('labels of an organization', () => {
  test('are made and changed by owners, read by all and used in its repositories', async () => {
    const org = await organization()
    const path = `/orgs/${org}/labels`
    const made = await owner.client.post(path, { name: 'shared', color: '#0AF', exclusive: true })
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: made.number('id'),
        name: 'shared',
        color: '00aaff',
        description: '',
        exclusive: true,
        is_archived: false,
        url: `${service.url}/api/v1${path}/${made.number('id')}`,
      },
    ])
    const one = `${path}/${made.number('id')}`
    expect(names((await service.anonymous.get(path)).body)).toEqual(['shared'])
    expect((await outsider.client.get(one)).status).toBe(200)
    expect((await service.anonymous.get(one)).status).toBe(401)
    expect((await owner.client.patch(one, { name: 'ours' })).string('name')).toBe('ours')
    await owner.client.post(`/orgs/${org}/repos`, { name: 'r' })
    const issue = await owner.client.post(`/repos/${org}/r/issues`, { title: 't', labels: [made.number('id')] })
    expect(issue.body).toMatchObject({ labels: [{ name: 'ours' }] })
    for (const color of ['red', '#12', ''])
      expect((await owner.client.post(path, { name: 'x', color })).status).toBe(422)
    for (const who of [member, outsider]) {
      expect((await who.client.post(path, { name: 'x', color: '#fff' })).status).toBe(403)
      expect((await who.client.patch(one, { name: 'x' })).status).toBe(403)
      expect((await who.client.delete(one)).status).toBe(403)
    }
    // Wire: one that is gone is no fault.
    for (const _ of [1, 2]) expect((await owner.client.delete(one)).status).toBe(204)
    expect((await owner.client.get(one)).status).toBe(404)
  })

  test('are not reached through another parent', async () => {
    const [one, other] = [await organization(), await organization()]
    await owner.client.post(`/orgs/${one}/repos`, { name: 'r' })
    const label = await owner.client.post(`/orgs/${other}/labels`, { name: 'theirs', color: '#fff' })
    for (const path of [`/orgs/${one}/labels`, `/repos/${one}/r/labels`]) {
      const target = `${path}/${label.number('id')}`
      expect((await owner.client.get(target)).status).toBe(404)
      expect((await owner.client.patch(target, { name: 'mine' })).status).toBe(404)
      expect((await owner.client.delete(target)).status).toBe(204)
    }
    expect(names((await owner.client.get(`/orgs/${other}/labels`)).body)).toEqual(['theirs'])
  })
})

describe('blocks of an organization', () => {
  test('are for owners to see and to change', async () => {
    const org = await organization()
    const path = `/orgs/${org}/blocks`
    expect((await owner.client.get(`${path}/${outsider.name}`)).status).toBe(404)
    const put = await owner.client.request(`${path}/${outsider.name}`, { method: 'PUT', query: { note: 'spam' } })
    expect(put.status).toBe(204)
    expect((await owner.client.get(`${path}/${outsider.name}`)).status).toBe(204)
    expect(names((await owner.client.get(path)).body)).toEqual([outsider.name])
    await owner.client.post(`/orgs/${org}/repos`, { name: 'r' })
    expect((await outsider.client.post(`/repos/${org}/r/issues`, { title: 't' })).status).toBe(403)
    expect((await owner.client.put(`${path}/${org}`)).status).toBe(400)
    expect((await owner.client.put(`${path}/nobody-at-all`)).status).toBe(404)
    for (const who of [member, outsider]) {
      expect((await who.client.get(path)).status).toBe(403)
      expect((await who.client.put(`${path}/${owner.name}`)).status).toBe(403)
      expect((await who.client.delete(`${path}/${outsider.name}`)).status).toBe(403)
    }
    expect((await owner.client.delete(`${path}/${outsider.name}`)).status).toBe(204)
    expect((await owner.client.delete(`${path}/${outsider.name}`)).status).toBe(404)
  })
})

describe('the avatar of an organization', () => {
  const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

  test('is changed and taken away by owners', async () => {
    const org = await organization()
    const url = async () => (await service.anonymous.get(`/orgs/${org}`)).string('avatar_url')
    const drawn = await url()
    expect((await owner.client.post(`/orgs/${org}/avatar`, { image: PNG })).status).toBe(204)
    expect(await url()).not.toBe(drawn)
    expect((await fetch(await url())).headers.get('content-type')).toBe('image/png')
    for (const who of [member, outsider]) {
      expect((await who.client.post(`/orgs/${org}/avatar`, { image: PNG })).status).toBe(403)
      expect((await who.client.delete(`/orgs/${org}/avatar`)).status).toBe(403)
    }
    expect((await owner.client.post(`/orgs/${org}/avatar`, { image: 'no base64!' })).status).toBe(400)
    expect((await owner.client.post(`/orgs/${org}/avatar`, { image: btoa('<svg/>') })).status).toBe(422)
    expect((await owner.client.delete(`/orgs/${org}/avatar`)).status).toBe(204)
    expect(await url()).toBe(drawn)
  })
})

describe('what is hidden', () => {
  test('a hidden organization is not among those that a member shows', async () => {
    const org = await organization({ visibility: 'private' })
    expect((await member.client.put(`/orgs/${org}/public_members/${member.name}`)).status).toBe(204)
    const path = `/users/${member.name}/orgs`
    expect(names((await outsider.client.get(path)).body)).not.toContain(org)
    for (const who of [member, owner, service.admin]) expect(names((await who.client.get(path)).body)).toContain(org)
    const basic = service.client({ basic: `${member.name}:${member.password}` })
    const made = await basic.post(`/users/${member.name}/tokens`, { name: 'narrow', scopes: ['public-only', 'all'] })
    const narrow = await service.client({ token: made.string('sha1') }).get(path)
    expect([narrow.status, narrow.headers.get('x-total-count')]).toEqual([200, '0'])
  })

  test('the list of all organizations asks for the scope, and shows a token for public things no hidden one', async () => {
    const [open, hidden] = [await organization(), await organization({ visibility: 'private' })]
    const basic = service.client({ basic: `${service.admin.name}:${service.admin.password}` })
    const listed = async (scopes: string[]) => {
      const made = await basic.post(`/users/${service.admin.name}/tokens`, { name: `list ${scopes}`, scopes })
      return service.client({ token: made.string('sha1') }).get('/orgs', { limit: 50 })
    }
    const narrow = await listed(['public-only', 'all'])
    expect(names(narrow.body)).toContain(open)
    expect(names(narrow.body)).not.toContain(hidden)
    expect(names((await listed(['read:organization'])).body)).toContain(hidden)
    expect(names((await listed([])).body)).not.toContain(hidden)
    expect((await listed(['read:user'])).status).toBe(403)
  })

  test('a hidden person is shown as a member to members only', async () => {
    const org = await organization()
    const list = (client = service.anonymous) => client.get(`/orgs/${org}/public_members`)
    await member.client.put(`/orgs/${org}/public_members/${member.name}`)
    expect(names((await list()).body)).toEqual([member.name])
    const edit = (visibility: string) =>
      service.admin.client.patch(`/admin/users/${member.name}`, { login_name: member.name, visibility })
    expect((await edit('private')).status).toBe(200)
    for (const path of ['public_members', 'members']) {
      const shown = await outsider.client.get(`/orgs/${org}/${path}`)
      expect([shown.body, shown.headers.get('x-total-count')]).toEqual([[], '0'])
      expect((await outsider.client.get(`/orgs/${org}/${path}/${member.name}`)).status).toBe(404)
      expect(names((await owner.client.get(`/orgs/${org}/${path}`)).body)).toContain(member.name)
      expect((await owner.client.get(`/orgs/${org}/${path}/${member.name}`)).status).toBe(204)
    }
    await edit('public')
  })
})

describe('members of an organization', () => {
  test('decide themselves who sees them', async () => {
    const org = await organization()
    const shown = `/orgs/${org}/public_members/${member.name}`
    expect((await outsider.client.get(shown)).status).toBe(404)
    expect(names((await outsider.client.get(`/orgs/${org}/members`)).body)).toEqual([])
    expect((await owner.client.put(shown)).status).toBe(403)
    expect((await member.client.put(shown)).status).toBe(204)
    expect((await service.anonymous.get(shown)).status).toBe(204)
    expect(names((await outsider.client.get(`/orgs/${org}/members`)).body)).toEqual([member.name])
    expect((await outsider.client.put(`/orgs/${org}/public_members/${outsider.name}`)).status).toBe(403)
    expect((await member.client.delete(shown)).status).toBe(204)
    const told = await service.admin.client.get('/admin/audit', {
      action: 'organization',
      actor: member.name,
      limit: 2,
    })
    expect(told.body).toMatchObject([
      { action: 'organization.conceal_member', subject: { name: org } },
      { action: 'organization.publicize_member', subject: { name: org } },
    ])
    expect((await member.client.delete(`/orgs/${org}/members/${owner.name}`)).status).toBe(403)
    expect((await owner.client.delete(`/orgs/${org}/members/${member.name}`)).status).toBe(204)
    expect((await owner.client.delete(`/orgs/${org}/members/${member.name}`)).status).toBe(204)
    expect((await owner.client.delete(`/orgs/${org}/members/nobody-at-all`)).status).toBe(404)
    expect((await owner.client.delete(`/orgs/${org}/members/${owner.name}`)).status).toBe(422)
  })
})

test('an organization that owns something stays, and one that owns nothing goes with its teams', async () => {
  const org = await organization()
  await owner.client.post(`/orgs/${org}/repos`, { name: 'r' })
  expect((await owner.client.delete(`/orgs/${org}`)).status).toBe(422)
  await owner.client.delete(`/repos/${org}/r`)
  const id = (await owner.client.get(`/orgs/${org}/teams`)).number('0.id')
  expect((await outsider.client.delete(`/orgs/${org}`)).status).toBe(403)
  expect((await owner.client.delete(`/orgs/${org}`)).status).toBe(204)
  expect((await owner.client.get(`/teams/${id}`)).status).toBe(404)
  expect(names((await member.client.get('/user/orgs')).body)).not.toContain(org)
})
