import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../db/client.ts'
import { createBareDatabase, type TestDatabase } from '../harness/database.ts'
import { startOpenIdProvider, type TestProvider } from '../harness/openid-provider.ts'
import { atTerminal, runProgram } from '../harness/program.ts'

let folder: string
let database: TestDatabase
let provider: TestProvider
let open: ReturnType<typeof openDatabase>
let settings: Record<string, string>
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hearth-auth-source-'))
  database = await createBareDatabase()
  provider = await startOpenIdProvider()
  open = openDatabase(database.url, { poolSize: 2 })
  settings = {
    DATABASE_URL: database.url,
    DATA_DIR: join(folder, 'data'),
    PUBLIC_URL: 'https://git.example.org',
    AUTH_SOURCE_ALLOWED_HOSTS: 'loopback',
  }
})
afterAll(async () => {
  await open.close()
  provider.stop()
  await database.drop()
  rmSync(folder, { recursive: true, force: true })
})

const run = (words: string, { input = '', more = {} }: { input?: string; more?: Record<string, string> } = {}) =>
  runProgram(['auth-source', ...words.split(' ')], { ...settings, ...more }, { input })
const rows =
  () => open.sql`select name, label, issuer, is_active as "isActive", client_secret is not null as "hasSecret",
  registration, group_claim as "groupClaim", removes_from_teams as removes from auth_sources order by name`

test('a source is added, listed, changed and deleted, with a trail and without its secret in sight', async () => {
  const added = await run(`add corp --issuer ${provider.issuer} --client-id hearth --label Corp --secret-stdin`, {
    input: 'the-secret-of-corp\n',
  })
  expect(added).toEqual({
    exitCode: 0,
    stderr: '',
    stdout: 'Added corp. Register this redirect URI with it: https://git.example.org/user/oauth2/corp/callback\n',
  })
  expect([...(await rows())]).toMatchObject([
    { name: 'corp', label: 'Corp', isActive: true, hasSecret: true, registration: 'site' },
  ])
  const listed = await run('list')
  expect(listed.stdout).toMatch(
    /^1\tcorp\tCorp\thttp:\S+\thearth\tactive\tsite\t0\n\tscopes openid,profile,email\n\twith a secret\n/,
  )
  const file = join(folder, 'secret')
  await Bun.write(file, 'another-secret\n')
  await open.sql`with org as (insert into users (kind, name) values ('organization', 'acme') returning id)
    insert into teams (organization_id, name) select id, 'builders' from org`
  const map = '{"dev":{"acme":["Builders"]}}'
  const change = `edit CORP --active no --registration closed --group-claim-name groups --group-team-map ${map} --group-team-map-removal yes`
  const edited = await run(`${change} --secret-file ${file} --required-claim-name roles --required-claim-value git`)
  expect([edited.exitCode, edited.stdout]).toEqual([0, 'Changed corp.\n'])
  expect([...(await rows())]).toMatchObject([
    { label: 'Corp', isActive: false, registration: 'closed', groupClaim: 'groups', removes: true },
  ])
  const shown = await run('list')
  expect(shown.stdout).toContain('dev is in acme/builders')
  expect(shown.stdout).toContain('requires roles=git')
  const trail =
    await open.sql`select action, method, changes::text as changes from audit_entries where subject_kind = 'auth_source'`
  expect(trail).toMatchObject([
    { action: 'auth_source.create', method: 'command line' },
    { action: 'auth_source.edit' },
  ])
  for (const text of [...trail.map((row) => row.changes), added.stdout, shown.stdout])
    expect(text).not.toMatch(/-secret/)

  await open.sql`insert into users (name, source_id, login_name) select 'ann', id, 'x' from auth_sources`
  const refused = await run('delete corp')
  expect([refused.exitCode, refused.stderr]).toEqual([1, 'accounts sign in by this source\n'])
  const gone = await run('delete corp --release-accounts')
  expect(gone.stdout).toBe('Deleted corp. Accounts that are of this site now: 1\n')
  expect(await rows()).toHaveLength(0)
  expect((await run('list')).stdout).toBe('')
})

test('at a terminal the secret is asked for, and not shown', async () => {
  const words = `auth-source add typed --issuer ${provider.issuer} --client-id hearth --secret-stdin`.split(' ')
  const typed = await atTerminal(words, settings, { after: 'Client secret: ', keys: 'the-secret-of-typed\r' })
  expect(typed.exitCode).toBe(0)
  expect(typed.shown).toContain('Added typed.')
  expect(typed.shown).not.toContain('the-secret')
  expect([...(await rows())]).toMatchObject([{ name: 'typed', hasSecret: true }])
  for (const keys of ['half\u0003', '\u0004', '\r']) {
    const given = await atTerminal(words, settings, { after: 'Client secret: ', keys })
    expect([keys, given.exitCode]).toEqual([keys, 64])
  }
  await run('delete typed')
})

test('another issuer is refused while people are connected, unless these are the same', async () => {
  await run(`add moving --issuer ${provider.issuer} --client-id hearth`)
  await open.sql`with person as (insert into users (name) values ('bob') returning id)
    insert into external_identities (user_id, source_id, subject) select person.id, s.id, '1' from person, auth_sources s`
  const move = 'edit moving --unchecked --issuer https://sso.example.org/'
  const refused = await run(move)
  expect([refused.exitCode, refused.stderr]).toEqual([
    1,
    `people are connected with ${provider.issuer}: another issuer has other people\n`,
  ])
  expect((await run(`edit moving --unchecked --issuer ${provider.issuer} --label Moved`)).exitCode).toBe(0)
  expect([...(await rows())]).toMatchObject([{ label: 'Moved', issuer: provider.issuer }])
  expect((await run(`${move} --same-people`)).exitCode).toBe(0)
  await open.sql`delete from external_identities`
  expect((await run(`edit moving --unchecked --issuer ${provider.issuer}`)).exitCode).toBe(0)
  expect([...(await rows())]).toMatchObject([{ issuer: provider.issuer }])
  await run('delete moving')
})

test.each([
  ['add', '"auth-source add" takes NAME', 64],
  ['add x', '--issuer URL and --client-id ID are required', 64],
  ['add x --issuer https://a.example --client-id y --active maybe', '--active is yes or no', 64],
  ['add x --issuer https://a.example --client-id y --registration open', '--registration is one of', 64],
  ['add x --issuer https://a.example --client-id y --group-team-map []', '--group-team-map is JSON', 64],
  ['add x --issuer https://a.example --client-id y --group-team-map {"a":{"b":"c"}}', '--group-team-map is JSON', 64],
  ['add x --issuer https://a.example --client-id y --secret hunter2', 'there is no option --secret', 64],
  ['add x --issuer https://a.example --client-id y --secret-file /nowhere', 'the secret cannot be read', 64],
  ['add x --issuer https://a.example --client-id y --secret-stdin', 'the secret is empty', 64],
  ['add x/y --issuer https://a.example --client-id y', 'a name has letters', 1],
  ['add x --issuer nonsense --client-id y', 'an issuer is an address', 1],
  ['edit nobody --label x', 'there is no source "nobody"', 64],
  ['delete nobody', 'there is no source "nobody"', 64],
])('"%s" is refused', async (words, message, status) => {
  const { exitCode, stderr } = await run(words)
  expect(stderr).toContain(message)
  expect(exitCode).toBe(status)
  expect(await rows()).toHaveLength(0)
})

test('a provider inside has to be named in the settings, and one that does not answer is not kept, unless it is to be', async () => {
  const words = `add inside --issuer ${provider.issuer} --client-id hearth`
  const refused = await run(words, { more: { AUTH_SOURCE_ALLOWED_HOSTS: 'external' } })
  expect([refused.exitCode, refused.stderr.includes('does not answer as a provider')]).toEqual([1, true])
  expect(refused.stderr).toContain('an address that this service may not reach')
  expect((await run(words, { more: { AUTH_SOURCE_ALLOWED_HOSTS: 'exter nal' } })).exitCode).toBe(78)
  expect(await rows()).toHaveLength(0)
  expect((await run(`${words} --unchecked`, { more: { AUTH_SOURCE_ALLOWED_HOSTS: 'external' } })).exitCode).toBe(0)
  expect([...(await rows())]).toMatchObject([{ name: 'inside', hasSecret: false }])
})
