import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let owner: TestUser
let person: TestUser
let repo: TestRepository

beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  person = await service.createUser()
  repo = await service.createRepository(owner, { private: true })
})
afterAll(() => service.stop())

const logins = (body: unknown) => (Array.isArray(body) ? body.map(({ login }) => login) : body)
const path = (name: string) => `${repo.path}/collaborators/${name}`

describe('collaborators', () => {
  test('are given access, more access, and lose it with all that came with it', async () => {
    expect((await owner.client.get(path(person.name))).status).toBe(404)
    expect((await owner.client.put(path(person.name), {})).status).toBe(204)
    expect((await owner.client.get(path(person.name))).status).toBe(204)
    const permission = async () => (await person.client.get(`${path(person.name)}/permission`)).body
    expect(await permission()).toMatchObject({ permission: 'write', role_name: 'write', user: { login: person.name } })
    await owner.client.put(path(person.name), { permission: 'read' })
    expect(await permission()).toMatchObject({ permission: 'read' })
    await owner.client.put(path(person.name), { permission: 'admin' })
    expect(await permission()).toMatchObject({ permission: 'admin' })
    expect(logins((await person.client.get(`${repo.path}/collaborators`)).body)).toEqual([person.name])
    expect(logins((await person.client.get(`${repo.path}/assignees`)).body)).toEqual([owner.name, person.name])
    await owner.client.post(`${repo.path}/issues`, { title: 'i', assignees: [person.name] })
    expect((await owner.client.delete(path(person.name))).status).toBe(204)
    expect((await owner.client.delete(path(person.name))).status).toBe(204)
    expect((await person.client.get(repo.path)).status).toBe(404)
    expect((await owner.client.get(`${repo.path}/issues/1`)).body).toMatchObject({ assignees: null })
  })

  test('are people, known ones, not the owner and not blocked', async () => {
    await owner.client.post('/orgs', { username: 'an-org' })
    for (const name of ['nobody-at-all', owner.name, 'an-org'])
      expect([name, (await owner.client.put(path(name), {})).status]).toEqual([name, 422])
    expect((await owner.client.put(path(person.name), { permission: 'owner' })).status).toBe(422)
    expect((await owner.client.get(path('nobody-at-all'))).status).toBe(422)
    expect((await owner.client.delete(path('nobody-at-all'))).status).toBe(422)
    expect((await owner.client.get(`${path('nobody-at-all')}/permission`)).status).toBe(404)
    await person.client.put(`/user/blocks/${owner.name}`)
    expect((await owner.client.put(path(person.name), {})).status).toBe(403)
    await person.client.delete(`/user/blocks/${owner.name}`)
  })

  test('may be people who hide, when somebody names them exactly', async () => {
    const hidden = await service.createUser()
    const settings = { login_name: hidden.name, source_id: 0, visibility: 'private' }
    await service.admin.client.patch(`/admin/users/${hidden.name}`, settings)
    expect((await owner.client.get(`/users/${hidden.name}`)).status).toBe(404)
    expect((await owner.client.get(path(hidden.name))).status).toBe(422)
    expect((await owner.client.put(path(hidden.name), {})).status).toBe(204)
    expect((await owner.client.get(path(hidden.name))).status).toBe(204)
    expect((await owner.client.get(`${path(hidden.name)}/permission`)).body).toMatchObject({ permission: 'write' })
    expect((await owner.client.delete(path(hidden.name))).status).toBe(204)
    expect((await owner.client.get(path(hidden.name))).status).toBe(422)
    expect((await owner.client.get(`${path(hidden.name)}/permission`)).status).toBe(404)
  })

  test('are for administrators of the repository to change', async () => {
    const open = await service.createRepository(owner)
    const writer = await service.createUser()
    await owner.client.put(`${open.path}/collaborators/${writer.name}`, { permission: 'write' })
    const target = `${open.path}/collaborators/${person.name}`
    expect((await writer.client.put(target, {})).status).toBe(403)
    expect((await owner.client.put(target)).body).toMatchObject({ message: '[]: Empty Content-Type' })
    expect((await writer.client.delete(target)).status).toBe(403)
    expect((await writer.client.get(`${target}/permission`)).status).toBe(403)
    expect((await owner.client.get(`${target}/permission`)).body).toMatchObject({ permission: 'read' })
    expect((await service.anonymous.get(`${open.path}/collaborators`)).status).toBe(401)
    expect((await service.anonymous.put(target, {})).status).toBe(401)
    expect((await person.client.put(path(person.name), {})).status).toBe(404)
  })
})

describe('the teams of a repository', () => {
  test('are those that reach it, and only an organization has any', async () => {
    expect((await owner.client.get(`${repo.path}/teams`)).status).toBe(405)
    expect((await owner.client.put(`${repo.path}/teams/x`)).status).toBe(405)
    await owner.client.post('/orgs', { username: 'teamed' })
    await owner.client.post('/orgs/teamed/repos', { name: 'r' })
    await owner.client.post('/orgs/teamed/teams', { name: 'devs', units: ['repo.code'] })
    const teams = '/repos/teamed/r/teams'
    expect((await owner.client.get(teams)).body).toMatchObject([{ name: 'Owners' }])
    expect((await owner.client.get(`${teams}/devs`)).status).toBe(404)
    expect((await owner.client.put(`${teams}/DEVS`)).status).toBe(204)
    expect((await owner.client.put(`${teams}/devs`)).status).toBe(422)
    expect((await owner.client.get(`${teams}/devs`)).body).toMatchObject({ name: 'devs' })
    expect((await owner.client.delete(`${teams}/devs`)).status).toBe(204)
    expect((await owner.client.delete(`${teams}/devs`)).status).toBe(422)
    expect((await owner.client.delete(`${teams}/owners`)).status).toBe(422)
    expect((await owner.client.put(`${teams}/nothing`)).status).toBe(404)
    expect((await owner.client.delete(`${teams}/nothing`)).status).toBe(404)
    expect((await person.client.put(`${teams}/devs`)).status).toBe(403)
    expect((await owner.client.put(`${teams}/owners`)).status).toBe(422)
    // Of many who add it at once only one has.
    const added = await Promise.all(Array.from({ length: 6 }, () => owner.client.put(`${teams}/devs`)))
    expect(added.map(({ status }) => status).sort()).toEqual([204, 422, 422, 422, 422, 422])
  })
})

test('a review can be asked of whoever was given the repository, and only these may see who that is', async () => {
  const [host, helper, outsider] = [await service.createUser(), await service.createUser(), await service.createUser()]
  const place = await service.createRepository(host)
  await host.client.put(`${place.path}/collaborators/${helper.name}`, { permission: 'read' })
  const path = `${place.path}/reviewers`
  const logins = async (user: TestUser) => {
    const { body } = await user.client.get(path)
    return Array.isArray(body) ? body.map(({ login }) => login).sort() : body
  }
  const given = [host.name, helper.name].sort()
  expect(await logins(host)).toEqual(given)
  expect(await logins(helper)).toEqual(given)
  expect(await logins(service.admin)).toEqual(given)
  expect((await outsider.client.get(path)).status).toBe(403)
  expect((await service.anonymous.get(path)).status).toBe(401)
  await host.client.patch(place.path, { private: true })
  expect((await outsider.client.get(path)).status).toBe(404)
})
