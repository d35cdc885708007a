import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { connect } from '../../db/connect.ts'
import { commit, type Hosted, hostRepository, workTree } from '../features/transport/hosted.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'
import { addKey, makeKey, ssh, type TestKey, withKey } from '../harness/ssh.ts'
import { until } from '../harness/until.ts'

let service: TestService
let owner: TestUser
let writer: TestUser
let repo: Hosted
let cwd: string

beforeAll(async () => {
  service = await startTestService({ settings: { SSH_ENABLED: 'true', SSH_PORT: '0', MAX_OWNED: '12' } })
  owner = await service.createUser()
  writer = await service.createUser()
  repo = await hostRepository(service, owner, { isPrivate: true })
  cwd = await workTree(service.git)
  await service.git(['push', '-q', repo.as(owner), 'main'], { cwd })
  await owner.client.put(`/repos/${owner.name}/${repo.name}/collaborators/${writer.name}`, { permission: 'write' })
})
afterAll(() => service.stop())

const keysOf = ({ name }: Hosted) => `/repos/${owner.name}/${name}/keys`
const at = ({ name }: Hosted, user = owner) => `${service.context.sshRoot}${user.name}/${name}.git`
const run = (key: TestKey, args: string[]) => service.git.run(args, { cwd, env: withKey(key) })

async function deploy(key: TestKey, option: Record<string, unknown> = {}, place = repo) {
  const body = { title: `key ${crypto.randomUUID()}`, key: key.line, ...option }
  return owner.client.post(keysOf(place), body)
}

test('a read-only key clones its repository and pushes nothing', async () => {
  const key = makeKey(service)
  expect((await deploy(key, { read_only: true })).status).toBe(201)
  const clone = join(service.git.folder, `clone-${crypto.randomUUID()}`)
  expect(await run(key, ['clone', '-q', at(repo), clone])).toMatchObject({ exitCode: 0 })
  const pushed = await run(key, ['push', at(repo), 'main:refs/heads/more'])
  expect(pushed.exitCode).not.toBe(0)
  expect(pushed.stderr).toContain('read-only')
  expect(await repo.rowLines()).toHaveLength(1)
})

test('a writing key pushes, in the name of the owner, and changes nothing else', async () => {
  const key = makeKey(service)
  await deploy(key)
  expect(await run(key, ['push', '-q', at(repo), 'main:refs/heads/pushed'])).toMatchObject({ exitCode: 0 })
  expect(await repo.rowLines()).toEqual(await repo.diskLines())
  const options = await run(key, ['push', '-o', 'repo.private=false', at(repo), 'main:refs/heads/open'])
  expect(options.exitCode).not.toBe(0)
  expect(options.stderr).toContain('deploy key')
  expect((await repo.row()).isPrivate).toBe(true)
})

test('a key opens its repositories and no other, be they public, private or none', async () => {
  const key = makeKey(service)
  await deploy(key)
  const hidden = await hostRepository(service, owner, { isPrivate: true })
  const open = await hostRepository(service, owner)
  const said = await Promise.all(
    [at(hidden), at(open), `${service.context.sshRoot}${owner.name}/none.git`].map((url) =>
      run(key, ['ls-remote', url]),
    ),
  )
  expect(said.map(({ exitCode }) => exitCode)).toEqual([128, 128, 128])
  expect(new Set(said.map(({ stderr }) => stderr)).size).toBe(1)
  expect((await deploy(key, { read_only: true }, hidden)).status).toBe(201)
  expect(await run(key, ['ls-remote', at(hidden)])).toMatchObject({ exitCode: 0 })
  expect((await ssh(service, key)).stderr).toContain('deploy key')
})

test('a protected branch takes pushes of deploy keys where its rule says so', async () => {
  const key = makeKey(service)
  await deploy(key)
  const rules = `/repos/${owner.name}/${repo.name}/branch_protections`
  const rule = {
    rule_name: 'main',
    enable_push: true,
    enable_push_whitelist: true,
    push_whitelist_usernames: [owner.name],
  }
  expect((await owner.client.post(rules, rule)).status).toBe(201)
  await commit(service.git, cwd, { 'more.txt': 'more' })
  const refused = await run(key, ['push', at(repo), 'main'])
  expect(refused.stderr).toContain('not allowed to push to protected branch main')
  await owner.client.patch(`${rules}/main`, { push_whitelist_deploy_keys: true })
  expect(await run(key, ['push', '-q', at(repo), 'main'])).toMatchObject({ exitCode: 0 })
  await owner.client.delete(`${rules}/main`)
})

test('a key that was taken back, or whose repository is archived or gone, opens nothing more', async () => {
  const key = makeKey(service)
  const place = await hostRepository(service, owner)
  const made = await deploy(key, {}, place)
  await owner.client.patch(`/repos/${owner.name}/${place.name}`, { archived: true })
  expect((await run(key, ['push', at(place), 'main'])).stderr).toContain('archived')
  expect((await owner.client.delete(`${keysOf(place)}/${made.number('id')}`)).status).toBe(204)
  expect((await run(key, ['ls-remote', at(place)])).exitCode).not.toBe(0)
  const { sql } = service.context
  expect(await sql`select 1 from public_keys where id = ${made.number('key_id')}`).toHaveLength(0)
  const again = await deploy(key, {}, place)
  expect(again.status).toBe(201)
  expect((await owner.client.delete(`/repos/${owner.name}/${place.name}`)).status).toBe(204)
  expect(await sql`select 1 from public_keys where id = ${again.number('key_id')}`).toHaveLength(0)
  // Nobody's any more: an account may have it.
  await addKey(writer, key)
})

test('a key of an account is no deploy key, and the other way round', async () => {
  const [mine, deployed] = [makeKey(service), makeKey(service)]
  await addKey(owner, mine)
  expect((await deploy(mine)).status).toBe(422)
  await deploy(deployed)
  expect((await owner.client.post('/user/keys', { title: 'x', key: deployed.line })).status).toBe(422)
})

test('of many who add and delete one key at once, none fails and nothing is left over', async () => {
  const key = makeKey(service)
  const places = await Promise.all([1, 2, 3].map(() => hostRepository(service, owner)))
  const added = await Promise.all(places.flatMap((place) => [deploy(key, {}, place), deploy(key, {}, place)]))
  expect(added.map(({ status }) => status).sort()).toEqual([201, 201, 201, 422, 422, 422])
  const answers = await Promise.all(
    places.flatMap((place, index) => {
      const id = added.slice(2 * index, 2 * index + 2).find(({ status }) => status === 201)
      return [owner.client.delete(`${keysOf(place)}/${id?.number('id')}`), deploy(key, {}, place)]
    }),
  )
  expect(answers.every(({ status }) => [201, 204, 422].includes(status))).toBe(true)
})

/** Until so many wait for a lock. */
const waits = (most: number) =>
  until(async () => {
    const rows = await service.context.sql`
      select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    return rows.length >= most
  }, `${most} wait for a lock`)

test('a key may be deleted while its repository is', async () => {
  const place = await hostRepository(service, owner)
  const made = await deploy(makeKey(service), {}, place)
  const other = connect(service.databaseUrl, { max: 1 })
  const answers = await other.begin(async (tx) => {
    await tx`select 1 from public_keys where id = ${made.number('key_id')} for update`
    const key = owner.client.delete(`${keysOf(place)}/${made.number('id')}`)
    await waits(1)
    const repository = owner.client.delete(`/repos/${owner.name}/${place.name}`)
    await waits(2)
    return { key, repository }
  })
  expect((await Promise.all([answers.key, answers.repository])).map(({ status }) => status)).toEqual([204, 204])
  await other.end()
})

test('a key may be added to one repository of an account that goes with all of them', async () => {
  const leaver = await service.createUser()
  const [first, last] = [await service.createRepository(leaver), await service.createRepository(leaver)]
  const key = makeKey(service)
  const made = await leaver.client.post(`${first.path}/keys`, { title: 'first', key: key.line })
  const other = connect(service.databaseUrl, { max: 1 })
  const answers = await other.begin(async (tx) => {
    // Whoever is in the middle of adding the key to the last repository.
    await tx`select 1 from repositories where id = ${last.id} for no key update`
    const account = service.admin.client.delete(`/admin/users/${leaver.name}?purge=true`)
    await waits(1)
    await tx`select 1 from public_keys where id = ${made.number('key_id')} for update`
    return { account }
  })
  expect((await answers.account).status).toBe(204)
  await other.end()
})

test('keys are for administrators, and are no more than MAX_OWNED', async () => {
  const key = makeKey(service)
  const json = { title: 'x', key: key.line }
  expect((await writer.client.post(keysOf(repo), json)).status).toBe(403)
  expect((await writer.client.get(keysOf(repo))).status).toBe(403)
  expect((await service.anonymous.post(keysOf(repo), json)).status).toBe(401)
  for (const bad of [{}, { title: 'x', key: 'garbage' }, { title: '', key: key.line }, { ...json, read_only: 'yes' }])
    expect((await owner.client.post(keysOf(repo), bad)).status).toBe(422)
  const place = await hostRepository(service, owner)
  const many = await Promise.all(Array.from({ length: 14 }, () => deploy(makeKey(service), {}, place)))
  expect(many.filter(({ status }) => status === 201)).toHaveLength(12)
})
