import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { hooks } from '../../db/schema/hooks.ts'
import { openAddress, sealStoredAddresses } from '../../src/webhooks/address.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let owner: TestUser
let outsider: TestUser
let repo: TestRepository
let other: TestRepository

beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  outsider = await service.createUser()
  repo = await service.createRepository(owner)
  other = await service.createRepository(outsider)
  await owner.client.post('/orgs', { username: 'hooked' })
})
afterAll(() => service.stop())

const hook = (more: object = {}, config: object = {}) => ({
  type: 'gitea',
  config: { url: 'http://receiver.example/x', content_type: 'json', ...config },
  ...more,
})

const places = () => [
  { path: `${repo.path}/hooks`, who: owner },
  { path: '/orgs/hooked/hooks', who: owner },
  { path: '/user/hooks', who: owner },
  { path: '/admin/hooks', who: service.admin },
]

describe('hooks', () => {
  test('are created, listed, read, changed and deleted at every level alike', async () => {
    for (const { path, who } of places()) {
      const made = await who.client.post(path, hook({ events: ['push', 'issues_only'], active: true, name: 'n' }))
      expect([path, made.status]).toEqual([path, 201])
      expect(made.body).toMatchObject({ name: 'n', type: 'gitea', events: ['push', 'issues'], active: true })
      expect(made.body).toMatchObject({ url: 'http://receiver.example/x', content_type: 'json' })
      const one = `${path}/${made.number('id')}`
      expect((await who.client.get(one)).body).toEqual(made.body)
      expect((await who.client.get(path, { type: 'all' })).body).toEqual([made.body])
      const edited = await who.client.patch(one, { config: { url: 'https://other.example/' }, name: 'm' })
      expect(edited.body).toMatchObject({
        name: 'm',
        active: true,
        events: ['push'],
        config: { url: 'https://other.example/', content_type: 'json' },
      })
      expect((await who.client.delete(one)).status).toBe(204)
      expect((await who.client.delete(one)).status).toBe(404)
      expect((await who.client.get(one)).status).toBe(404)
    }
  })

  test('are not reached through another parent, and stay as they are', async () => {
    const made = await Promise.all(places().map(({ path, who }) => who.client.post(path, hook({ name: 'mine' }))))
    const theirs = await outsider.client.post(`${other.path}/hooks`, hook({ name: 'theirs' }))
    const ids = [...made, theirs].map((answer) => answer.number('id'))
    for (const [index, { path, who }] of [...places(), { path: `${other.path}/hooks`, who: outsider }].entries())
      for (const id of ids.filter((one) => one !== ids[index])) {
        expect((await who.client.get(`${path}/${id}`)).status).toBe(404)
        expect((await who.client.patch(`${path}/${id}`, { name: 'stolen' })).status).toBe(404)
        expect((await who.client.delete(`${path}/${id}`)).status).toBe(404)
      }
    expect((await outsider.client.get(`${other.path}/hooks/${ids[4]}`)).body).toMatchObject({ name: 'theirs' })
    for (const [index, { path, who }] of places().entries()) {
      expect((await who.client.get(`${path}/${ids[index]}`)).body).toMatchObject({ name: 'mine' })
      for (const id of ['abc', '0', '-1', '9'.repeat(30)])
        expect((await who.client.get(`${path}/${id}`)).status).toBe(404)
      await who.client.delete(`${path}/${ids[index]}`)
    }
  })

  test('are for those who administer the parent', async () => {
    const reader = await service.createUser()
    await owner.client.put(`${repo.path}/collaborators/${reader.name}`, { permission: 'write' })
    for (const path of [`${repo.path}/hooks`, '/orgs/hooked/hooks', '/admin/hooks']) {
      for (const answer of [await reader.client.get(path), await reader.client.post(path, hook())])
        expect([path, answer.status]).toEqual([path, 403])
      expect((await service.anonymous.get(path)).status).toBe(401)
    }
    expect((await service.anonymous.post('/user/hooks', hook())).status).toBe(401)
  })
})

describe('what a hook says', () => {
  const refused = async (json: object) => {
    const { status } = await owner.client.post('/user/hooks', json)
    return status
  }

  test('is checked', async () => {
    for (const json of [
      { config: hook().config },
      { type: 'gitea' },
      hook({ type: 'Slack' }),
      hook({ type: 'nothing' }),
      hook({}, { url: 'ftp://x.example/' }),
      hook({}, { url: 'javascript:alert(1)' }),
      hook({}, { url: 'http://' }),
      hook({}, { url: 'http://x y/' }),
      hook({}, { content_type: 'xml' }),
      hook({}, { http_method: 'TRACE' }),
      hook({}, { url: 5 }),
      hook({ name: 'x'.repeat(256) }),
      hook({ branch_filter: '[bad' }),
      hook({ branch_filter: '{a*,'.repeat(50) }),
      hook({ branch_filter: '*'.repeat(300) }),
      hook({ branch_filter: `${'{a*,'.repeat(2000)}` }),
      hook({ type: 'slack' }),
      { type: 'slack', config: { url: 'http://x.example/', content_type: 'json' } },
    ])
      expect([json, await refused(json)]).toEqual([json, 422])
    expect(await refused(hook({ type: 'slack' }, { channel: '#no channel' }))).toBe(400)
    expect((await owner.client.get('/user/hooks')).headers.get('x-total-count')).toBe('0')
  })

  test('never breaks out of a header', async () => {
    for (const text of ['a\r\nX-Evil: 1', 'a\nb', 'a\rb', 'a\0b']) {
      expect(await refused(hook({ authorization_header: text }))).toBe(422)
      expect(await refused(hook({}, { secret: text }))).toBe(422)
    }
    const made = await owner.client.post('/user/hooks', hook())
    const path = `/user/hooks/${made.number('id')}`
    expect((await owner.client.patch(path, { authorization_header: 'a\nb' })).status).toBe(422)
    expect((await owner.client.patch(path, { config: { secret: 'a\nb' } })).status).toBe(422)
    await owner.client.delete(path)
  })

  test('is kept sealed where it is secret, and the secret is never shown', async () => {
    const json = hook({ authorization_header: 'Bearer very-secret-1' }, { secret: 'very-secret-2' })
    const made = await owner.client.post('/user/hooks', json)
    const path = `/user/hooks/${made.number('id')}`
    expect(made.body).toMatchObject({ authorization_header: 'Bearer very-secret-1' })
    for (const { text } of [made, await owner.client.get(path), await owner.client.patch(path, json)])
      expect(text).not.toContain('very-secret-2')
    const stored = await service.context.sql<{ row: string }[]>`
      select hooks::text || encode(secret, 'escape') || encode(authorization_header, 'escape') as row from hooks where secret is not null
      union all select audit_entries::text from audit_entries where action like 'hook.%'`
    expect(stored.length).toBeGreaterThan(1)
    for (const { row } of stored) expect(row).not.toContain('very-secret')
    expect((await owner.client.patch(path, {})).body).toMatchObject({ authorization_header: '' })
    const [left] = await service.context.sql`select authorization_header, secret is not null as has from hooks
      where id = ${made.number('id')}`
    expect(left).toEqual({ authorization_header: null, has: true })
    await owner.client.patch(path, { config: { secret: '' } })
    const [cleared] = await service.context.sql`select secret from hooks where id = ${made.number('id')}`
    expect(cleared).toEqual({ secret: null })
    await owner.client.delete(path)
  })

  test('hides what may be secret in its address, and keeps it sealed', async () => {
    const url = 'https://bob:pa55word-1@receiver.example/x/y?token=pa55word-2&pa55word-3&empty=&a=b#pa55word-4'
    const shown = 'https://***@receiver.example/x/y?token=***&***&empty=&a=***#***'
    const made = await owner.client.post('/user/hooks', hook({}, { url }))
    const id = made.number('id')
    const path = `/user/hooks/${id}`
    expect(made.body).toMatchObject({ url: shown, config: { url: shown } })
    expect((await owner.client.get(path)).body).toEqual(made.body)
    expect((await owner.client.get('/user/hooks')).body).toEqual([made.body])
    const stored = await service.context.sql<{ row: string }[]>`
      select hooks::text || encode(sealed_url, 'escape') as row from hooks where id = ${id}
      union all select audit_entries::text from audit_entries where action like 'hook.%'`
    for (const { row } of stored) expect(row).not.toContain('pa55word')
    const whole = async () => {
      const [row] = await service.context.db.select().from(hooks).where(eq(hooks.id, id))
      return row && openAddress(service.context, row)
    }
    expect(await whole()).toBe(url)
    // What it was shown with means the same address; anything else is a new one.
    expect((await owner.client.patch(path, { config: { url: shown } })).body).toMatchObject({ url: shown })
    expect(await whole()).toBe(url)
    const edited = await owner.client.patch(path, { config: { url: 'https://pa55word-5@other.example/' } })
    expect(edited.body).toMatchObject({ url: 'https://***@other.example/' })
    expect(await whole()).toBe('https://pa55word-5@other.example/')
    await owner.client.delete(path)
  })

  test('is sealed at a start where an older version stored the address as it was given', async () => {
    const url = 'https://bob:pa55word-1@receiver.example/x?token=pa55word-2'
    const made = await owner.client.post('/user/hooks', hook())
    const path = `/user/hooks/${made.number('id')}`
    await service.context.sql`update hooks set url = ${url}, sealed_url = null where id = ${made.number('id')}`
    await Promise.all([1, 2].map(() => sealStoredAddresses(service.context, new AbortController().signal)))
    expect((await owner.client.get(path)).body).toMatchObject({ url: 'https://***@receiver.example/x?token=***' })
    const [row] = await service.context.db
      .select()
      .from(hooks)
      .where(eq(hooks.id, made.number('id')))
    expect(row && openAddress(service.context, row)).toBe(url)
    await owner.client.delete(path)
  })

  test('is still listed where a header was sealed with another key', async () => {
    const made = await owner.client.post('/user/hooks', hook({ authorization_header: 'Bearer x' }))
    const path = `/user/hooks/${made.number('id')}`
    await service.context
      .sql`update hooks set authorization_header = decode(repeat('01', 60), 'hex') where id = ${made.number('id')}`
    const listed = await owner.client.get('/user/hooks')
    expect(listed.status).toBe(200)
    expect(listed.string('0.authorization_header')).toContain('sealed with another secret key')
    const changed = await owner.client.patch(path, { authorization_header: 'Bearer y' })
    expect(changed.string('authorization_header')).toBe('Bearer y')
    await owner.client.delete(path)
  })

  test('names events one by one or in groups, unknown ones dropped', async () => {
    const events = async (wanted: string[]) => {
      const made = await owner.client.post('/user/hooks', hook({ events: wanted }))
      await owner.client.delete(`/user/hooks/${made.number('id')}`)
      return made.body instanceof Object && 'events' in made.body ? made.body.events : undefined
    }
    expect(await events([])).toEqual(['push'])
    expect(await events(['constructor', 'nothing'])).toEqual([])
    expect(await events(['push', 'push', 'create'])).toEqual(['create', 'push'])
    expect(await events(['issues'])).toEqual([
      'issues',
      'issue_assign',
      'issue_label',
      'issue_milestone',
      'issue_comment',
    ])
    expect(await events(['pull_request_review_approved', 'pull_request_only'])).toEqual([
      'pull_request',
      'pull_request_review',
    ])
  })
})

describe('default hooks', () => {
  test('are given to new repositories once, and to no old ones', async () => {
    await service.drain()
    const made = await service.admin.client.post(
      '/admin/hooks',
      hook({ name: 'default', authorization_header: 'Basic x' }, { url: 'https://key@receiver.example/' }),
    )
    const system = await service.admin.client.post(
      '/admin/hooks',
      hook({ name: 'site' }, { is_system_webhook: 'true' }),
    )
    expect((await service.admin.client.get('/admin/hooks')).body).toMatchObject([{ name: 'site' }])
    const fresh = await service.createRepository(owner)
    await service.drain()
    await service.context.sql`update events set fanned_out_at = null where repository_id = ${fresh.id}`
    await service.drain()
    const copies = await owner.client.get(`${fresh.path}/hooks`)
    expect(copies.body).toMatchObject([{ name: 'default', authorization_header: 'Basic x' }])
    const [copy] = await service.context.db.select().from(hooks).where(eq(hooks.repositoryId, fresh.id))
    expect(copy && openAddress(service.context, copy)).toBe('https://key@receiver.example/')
    expect((await owner.client.get(`${repo.path}/hooks`)).body).toEqual([])
    const fork = await outsider.client.post(`${repo.path}/forks`, { name: 'forked' })
    expect((await outsider.client.get(`/repos/${fork.string('full_name')}/hooks`)).body).toMatchObject([
      { name: 'default' },
    ])
    for (const answer of [made, system]) await service.admin.client.delete(`/admin/hooks/${answer.number('id')}`)
    expect((await owner.client.get(`${fresh.path}/hooks`)).headers.get('x-total-count')).toBe('1')
  })

  test('go with the repository', async () => {
    const gone = await service.createRepository(owner)
    await owner.client.post(`${gone.path}/hooks`, hook())
    await owner.client.delete(gone.path)
    expect(await service.context.sql`select 1 from hooks where repository_id = ${gone.id}`).toHaveLength(0)
  })
})
