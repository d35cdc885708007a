import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { AuthSourceRow } from '../../db/schema/auth-sources.ts'
import { deleteSource, editSource } from '../../src/features/auth-sources/sources.ts'
import { startOpenIdProvider, type TestProvider } from '../harness/openid-provider.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'
import { addTestSource, comeBy, newVisitor, whoIs } from '../web/provider-stage.ts'

let service: TestService
let provider: TestProvider
let source: AuthSourceRow
beforeAll(async () => {
  provider = await startOpenIdProvider()
  service = await startTestService({ settings: { AUTH_SOURCE_ALLOWED_HOSTS: '127.0.0.1' } })
  source = await addTestSource(service, provider)
})
afterAll(async () => {
  await service.stop()
  provider.stop()
})
let counter = 0
const fresh = () => {
  counter += 1
  return { name: `member${counter}`, sub: `sub-${counter}` }
}
const edit = async (option: Omit<Parameters<typeof editSource>[1]['option'], 'isTried'>) => {
  source = await editSource(service.context, { source, option: { ...option, isTried: false } }, 'command line')
}
const signInAs = async (sub: string) => {
  provider.person = { ...provider.person, sub }
  const visitor = newVisitor(service)
  await comeBy(visitor)
  return whoIs(visitor)
}
const create = (json: Record<string, unknown>) => service.admin.client.post('/admin/users', json)
const personOf = (name: string, more: Record<string, unknown>) => ({
  username: name,
  email: `${name}@corp.example`,
  ...more,
})

describe('administrators say where somebody signs in', () => {
  test('when they make the account, which then needs no password', async () => {
    const { name, sub } = fresh()
    const made = await create(personOf(name, { source_id: source.id, login_name: sub }))
    expect([made.status, made.body]).toMatchObject([201, { source_id: source.id, login_name: sub }])
    expect(await signInAs(sub)).toBe(name)
    expect((await service.client({ basic: `${name}:` }).get('/user')).status).toBe(401)
    const found = await service.admin.client.get('/admin/users', { source_id: source.id, login_name: sub })
    expect(found.string('0.login')).toBe(name)
    expect((await service.admin.client.get('/admin/users', { source_id: 0, login_name: sub })).body).toEqual([])
  })

  test('only where there is such a source, with a name that nobody has there', async () => {
    const { name, sub } = fresh()
    await create(personOf(name, { source_id: source.id, login_name: sub }))
    const other = fresh().name
    for (const [more, message] of [
      [{ source_id: 999, login_name: 'x' }, 'login source does not exist [id: 999]'],
      [{ source_id: -1, login_name: 'x' }, 'login source does not exist [id: -1]'],
      [{ source_id: source.id, login_name: '' }, '[LoginName]: Required'],
      [{ source_id: source.id }, '[LoginName]: Required'],
      [{ source_id: source.id, login_name: sub }, `login name is taken at this source [login_name: ${sub}]`],
    ] as const) {
      const refused = await create(personOf(other, more))
      expect([refused.status, refused.string('message')]).toEqual([422, message])
    }
    expect((await create(personOf(other, { source_id: 0 }))).status).toBe(400)
    expect((await service.admin.client.get(`/users/${other}`)).status).toBe(404)
    const { name: third } = await service.createUser()
    const patch = (json: Record<string, unknown>) => service.admin.client.patch(`/admin/users/${third}`, json)
    expect((await patch({ source_id: 999, login_name: 'x' })).string('message')).toContain(
      'login source does not exist',
    )
    expect((await patch({ source_id: source.id, login_name: sub })).status).toBe(422)
    expect((await patch({ source_id: source.id })).status).toBe(422)
    expect((await service.admin.client.get(`/users/${third}`)).number('source_id')).toBe(0)
  })

  test('or move them, and the old way in is closed', async () => {
    const { name, sub } = fresh()
    const user = await service.createUser(name)
    const visitor = newVisitor(service)
    await visitor.signIn(user)
    const patch = (json: Record<string, unknown>) => service.admin.client.patch(`/admin/users/${name}`, json)
    const moved = await patch({ source_id: source.id, login_name: sub })
    expect(moved.body).toMatchObject({ source_id: source.id, login_name: sub })
    expect([await whoIs(visitor), await signInAs(sub)]).toEqual([401, name])
    const seen = async () => (await service.admin.client.get(`/users/${name}`)).body
    await patch({ login_name: sub, full_name: 'Somebody' })
    expect(await seen()).toMatchObject({ source_id: source.id, login_name: sub })
    await patch({ login_name: `${sub}-new` })
    expect([await signInAs(`${sub}-new`), await signInAs(sub)]).toEqual([name, 401])
    await Promise.all([
      patch({ source_id: 0, login_name: name }),
      patch({ source_id: source.id, login_name: `${sub}-newer` }),
      patch({ source_id: 0, login_name: name }),
    ])
    await patch({ source_id: 0, login_name: name })
    expect(await seen()).toMatchObject({ source_id: 0, login_name: name })
    for (const old of [sub, `${sub}-new`, `${sub}-newer`]) expect(await signInAs(old)).toBe(401)
    const { status } = await user.client.patch(`/admin/users/${name}`, { source_id: source.id, login_name: 'x' })
    expect(status).toBe(403)
    expect((await service.anonymous.patch(`/admin/users/${name}`, { source_id: 0, login_name: 'x' })).status).toBe(401)
  })

  test('and keep a source until nobody is of it, unless they take its people over', async () => {
    const old = await addTestSource(service, provider, { name: 'old' })
    const { name, sub } = fresh()
    await create(personOf(name, { source_id: old.id, login_name: sub }))
    const remove = (isReleasing: boolean) => deleteSource(service.context, { source: old, isReleasing }, 'command line')
    await expect(remove(false)).rejects.toThrow('accounts sign in by this source')
    expect(await remove(true)).toBe(1)
    expect((await service.admin.client.get(`/users/${name}`)).body).toMatchObject({ source_id: 0, login_name: '' })
    await expect(remove(true)).rejects.toMatchObject({ status: 404 })
  })
})

describe('groups', () => {
  let owner: TestUser
  let teamId: (name: string) => Promise<number>
  const members = async (team: string) => {
    const answer = await owner.client.get(`/teams/${await teamId(team)}/members`)
    return JSON.stringify(answer.body).match(/(?<="login":")[^"]+/g) ?? []
  }
  beforeAll(async () => {
    owner = await service.createUser()
    await owner.client.post('/orgs', { username: 'acme' })
    const ids = new Map<string, number>()
    for (const name of ['builders', 'testers', 'readers']) {
      const team = { name, permission: 'read', units: ['repo.code'] }
      ids.set(name, (await owner.client.post('/orgs/acme/teams', team)).number('id'))
    }
    ids.set('Owners', (await owner.client.get('/orgs/acme/teams')).number('0.id'))
    teamId = async (name) => ids.get(name) ?? 0
    const team = (group: string, name: string) => ({ group, organization: 'ACME', team: name })
    await edit({
      groupClaim: 'groups',
      groupTeams: [team('dev', 'builders'), team('dev', 'testers'), team('qa', 'testers'), team('boss', 'owners')],
    })
  })
  beforeEach(() => {
    const { name, sub } = fresh()
    provider.person = { sub, preferred_username: name, email: `${name}@corp.example`, email_verified: true }
  })
  const come = async (groups: unknown) => {
    provider.person = { ...provider.person, groups }
    const visitor = newVisitor(service)
    expect((await comeBy(visitor)).location).toBe('/')
    return String(provider.person.preferred_username)
  }

  test('bring people into teams at each sign-in, and out only where the source says so', async () => {
    const name = await come(['dev', 'unknown'])
    expect([await members('builders'), await members('testers'), await members('readers')]).toEqual([
      [name],
      [name],
      [],
    ])
    await owner.client.put(`/teams/${await teamId('readers')}/members/${name}`)
    await come(['qa'])
    expect([await members('builders'), await members('testers')]).toEqual([[name], [name]])
    await edit({ removesFromTeams: true })
    await come('qa')
    expect([await members('builders'), await members('testers')]).toEqual([[], [name]])
    await come(undefined)
    expect([await members('builders'), await members('testers'), await members('readers')]).toEqual([[], [], [name]])
    const trail = await service.admin.client.get('/admin/audit', { action: 'team.remove_member' })
    expect(trail.text).toContain('"source":{"before":"corp","after":null}')
    await edit({ removesFromTeams: false })
  })

  test('are told by userinfo too, and the source’s word about somebody with an account counts', async () => {
    provider.person = { ...provider.person, groups: [] }
    provider.twist = { userinfo: { groups: ['qa', 7, null, { a: 1 }] }, idToken: { groups: undefined } }
    const visitor = newVisitor(service)
    await comeBy(visitor)
    expect(await members('testers')).toContain(String(provider.person.preferred_username))
    provider.twist = {}
  })

  test('are compared as they are, and in a list only', async () => {
    const long = 'g'.repeat(255)
    const team = (group: string) => ({ group, organization: 'acme', team: 'readers' })
    const groupTeams = [team('ops'), team(long)]
    const other = await addTestSource(service, provider, { name: 'exact', groupClaim: 'groups', groupTeams })
    expect(other.groupClaim).toBe('groups')
    const before = await members('readers')
    const groups = [
      'op\u0000s',
      'ops\n',
      `${long}-of-others`,
      'OPS',
      ' ops',
      ['ops'],
      { ops: 'ops' },
      ...Array(999).fill('x'),
    ]
    for (const given of [groups, { ops: true }, { 0: 'ops' }, 'ops,dev']) {
      provider.person = { ...provider.person, sub: `exact-${counter++}`, preferred_username: `exact${counter}` }
      provider.person = { ...provider.person, email: `exact${counter}@corp.example`, groups: given }
      expect((await comeBy(newVisitor(service), { name: 'exact' })).location).toBe('/')
    }
    expect(await members('readers')).toEqual(before)
  })

  test('never take the last owner away, nor bring in whom the organization has blocked', async () => {
    await edit({ removesFromTeams: true })
    const name = await come(['boss'])
    expect(await members('Owners')).toContain(name)
    await service.client({ token: owner.token }).delete(`/teams/${await teamId('Owners')}/members/${owner.name}`)
    await come([])
    const { sql } = service.context
    const owners =
      await sql`select u.name from team_members m join users u on u.id = m.user_id where m.team_id = ${await teamId('Owners')}`
    expect(owners.map((row) => row.name)).toEqual([name])
    await service.admin.client.put(`/teams/${await teamId('Owners')}/members/${owner.name}`)
    await come([])
    expect(await members('Owners')).toEqual([owner.name])
    await owner.client.put(`/orgs/acme/blocks/${name}`)
    await come(['dev'])
    expect(await members('builders')).toEqual([])
    await edit({ removesFromTeams: false })
  })

  test('a team that is not there is refused, and nothing is changed', async () => {
    const before = await service.context.sql`select group_name, team_id from auth_source_teams order by 1, 2`
    const unknown = { group: 'dev', organization: 'acme', team: 'nobodies' }
    await expect(edit({ groupTeams: [unknown], label: 'Changed' })).rejects.toThrow('there is no team acme/nobodies')
    expect(await service.context.sql`select group_name, team_id from auth_source_teams order by 1, 2`).toEqual(before)
    expect(source.label).toBe('Corp <ID>')
    await owner.client.delete(`/teams/${await teamId('builders')}`)
    expect(await come(['dev'])).toBeString()
  })
})

test.each([
  [{ issuer: 'ftp://corp.example' }, 'an issuer is'],
  [{ issuer: 'https://corp.example/?a=b' }, 'an issuer is'],
  [{ issuer: 'https://me:secret@corp.example/' }, 'an issuer is'],
  [{ name: '../x' }, 'a name has'],
  [{ name: 'CORP' }, 'of this name already'],
  [{ label: '' }, 'a label has'],
  [{ scopes: ['profile'] }, 'the word openid'],
  [{ clientId: '' }, 'each text'],
  [{ issuer: 'http://127.0.0.1:1' }, 'does not answer as a provider'],
  // Only what was named is allowed of the addresses inside.
  [{ issuer: 'http://127.0.0.2' }, 'does not answer as a provider'],
  [{ issuer: 'http://169.254.169.254/' }, 'does not answer as a provider'],
  [{ issuer: 'http://[::1]/' }, 'does not answer as a provider'],
])('a source such as %j is refused', async (more, message) => {
  const given = {
    ...provider,
    clientId: 'clientId' in more ? more.clientId : provider.clientId,
    issuer: 'issuer' in more ? more.issuer : provider.issuer,
  }
  const adding = addTestSource(service, given, { name: `bad${counter}`, ...more })
  await expect(adding).rejects.toThrow(message)
  expect(await service.context.sql`select 1 from auth_sources where name = ${`bad${counter}`}`).toHaveLength(0)
})

test('a provider that calls itself otherwise is refused', async () => {
  const given = { ...provider, issuer: provider.issuer.replace('127.0.0.1', 'localhost') }
  await expect(addTestSource(service, given, { name: 'alias' })).rejects.toThrow()
})

test('the secret is stored sealed, and is in no trail', async () => {
  const [row] = await service.context.sql`select client_secret from auth_sources where name = 'corp'`
  expect(Buffer.from(row?.client_secret ?? '').includes(provider.secret)).toBe(false)
  await edit({ secret: 'a better secret' })
  const trail = await service.context
    .sql`select changes::text as text from audit_entries where subject_kind = 'auth_source'`
  expect(trail.length).toBeGreaterThan(2)
  for (const { text } of trail) expect(text).not.toMatch(/better secret|secret of hearth/)
  await edit({ secret: provider.secret })
})
