import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { recordAudit } from '../../src/audit/record.ts'
import { dropOldAuditEntries, ensureAuditPartitions } from '../../src/features/audit-log/retention.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let alice: TestUser
beforeAll(async () => {
  service = await startTestService()
  alice = await service.createUser('alice')
})
afterAll(() => service.stop())

const list = (query: Record<string, string | number> = {}) => service.admin.client.get('/admin/audit', query)

test('a change tells who, from where, and what it was before and after', async () => {
  await alice.client.patch('/user/settings', { full_name: 'Alice A' })
  const found = await list({ actor: 'ALICE', action: 'user.edit' })
  expect(found.body).toMatchObject([
    {
      action: 'user.edit',
      actor: { name: 'alice' },
      sudo_actor: null,
      method: 'token',
      route: 'PATCH /api/v1/user/settings',
      subject: { kind: 'user', name: 'alice' },
      changes: { fullName: { before: '', after: 'Alice A' } },
    },
  ])
  expect(found.string('0.address')).not.toBe('')
  expect(found.number('0.token_id')).toBeGreaterThan(0)
})

test('a repository that is made public and deleted is in it', async () => {
  const repository = await service.createRepository(alice, { private: true })
  await alice.client.patch(repository.path, { private: false, description: '' })
  await alice.client.delete(repository.path)
  const found = await list({ subject_kind: 'repository', subject_id: repository.id })
  expect(found.body).toMatchObject([
    { action: 'repository.delete', subject: { name: `alice/${repository.name}` } },
    { action: 'repository.edit', changes: { isPrivate: { before: true, after: false } } },
    { action: 'repository.create', changes: { isPrivate: { before: null, after: true } } },
  ])
})

test('under sudo both names are there', async () => {
  const path = '/user/settings?sudo=alice'
  await service.admin.client.request(path, { method: 'PATCH', json: { location: 'Here' } })
  const found = await list({ actor: 'root-admin', action: 'user.edit' })
  expect(found.body).toMatchObject([{ actor: { name: 'alice' }, sudo_actor: { name: 'root-admin' } }])
})

test('no entry holds a secret', async () => {
  const basic = service.client({ basic: `alice:${alice.password}` })
  const token = await basic.post('/users/alice/tokens', { name: 'audited', scopes: ['all'] })
  await service.admin.client.patch('/admin/users/alice', { login_name: 'alice', password: 'brand new password' })
  const everything = await (await service.admin.client.request('/admin/audit/export')).text
  expect(everything).toContain('"access_token.create"')
  expect(everything).toContain('"(hidden)"')
  for (const secret of [token.string('sha1'), 'brand new password', '$argon2id$', alice.token])
    expect(everything).not.toContain(secret)
  await service.admin.client.patch('/admin/users/alice', { login_name: 'alice', password: alice.password })
})

test('pages go on below the last id, and filters narrow them', async () => {
  for (let turn = 0; turn < 5; turn += 1) await alice.client.patch('/user/settings', { location: `Place ${turn}` })
  const first = await list({ limit: 2, actor: 'alice' })
  const second = await list({ limit: 2, actor: 'alice', below_id: first.number('1.id') })
  const ids = [first.number('0.id'), first.number('1.id'), second.number('0.id'), second.number('1.id')]
  expect(ids).toEqual([...ids].sort((a, b) => b - a))
  expect((await list({ since: '2100-01-01T00:00:00Z' })).body).toEqual([])
  expect((await list({ subject_kind: 'nothing' })).body).toEqual([])
  // A filter that cannot be read would else show everything as if it were the answer.
  for (const path of ['/admin/audit', '/admin/audit/export'])
    expect((await service.admin.client.get(path, { since: '2026-02-31' })).status).toBe(422)
  expect((await list({ action: '%' })).body).toEqual([])
})

test('the export is one JSON object a line', async () => {
  const answer = await service.admin.client.request('/admin/audit/export?actor=alice')
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson')
  const lines = answer.text.trimEnd().split('\n')
  expect(lines.length).toBeGreaterThan(5)
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ actor: { name: 'alice' } })
})

test('a change that fails leaves no entry', async () => {
  const before = await service.context.sql`select count(*) from audit_entries`
  expect((await alice.client.post('/user/emails', { emails: ['root-admin@x', 'bad'] })).status).toBe(422)
  const { db } = service.context
  const failing = db.transaction(async (tx) => {
    await recordAudit(tx, 'system', { action: 'test.fail', subject: { kind: 'test' } })
    throw new Error('rolled back')
  })
  await expect(failing).rejects.toThrow('rolled back')
  expect(await service.context.sql`select count(*) from audit_entries`).toEqual(before)
})

test('entries cannot be changed or deleted', async () => {
  const { sql: client } = service.context
  await expect(client`update audit_entries set actor_name = 'nobody'`.execute()).rejects.toThrow('cannot be changed')
  await expect(client`delete from audit_entries`.execute()).rejects.toThrow('cannot be changed')
})

test('only administrators read it', async () => {
  for (const path of ['/admin/audit', '/admin/audit/export']) {
    expect((await alice.client.get(path)).status).toBe(403)
    expect((await service.anonymous.get(path)).status).toBe(401)
  }
})

test('months that are old enough are dropped whole, the others stay', async () => {
  const { db } = service.context
  await ensureAuditPartitions(db, new Date('2024-05-20T00:00:00Z'))
  await db.execute(sql`insert into audit_entries (created_at, method, action, subject_kind) values
    ('2024-05-31T23:59:59Z', 'system', 'old.may', 'test'), ('2024-06-01T00:00:00Z', 'system', 'old.june', 'test'),
    ('2023-01-01T00:00:00Z', 'system', 'old.default', 'test')`)
  expect(await dropOldAuditEntries(db, new Date('2024-06-15T00:00:00Z'))).toEqual(['audit_entries_2024_05'])
  const left = await db.execute<{ action: string }>(sql`select action from audit_entries where action like 'old.%'`)
  expect(left.map(({ action }) => action)).toEqual(['old.june'])
})
