import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { Answer } from '../harness/client.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'
import { fixture } from '../signatures/fixtures.ts'
import { armor, certificateOf, flags, handmadeKey, packetOf, weakKey } from '../signatures/handmade.ts'
import { type GpgPerson, makeGpgKey } from '../signatures/stage.ts'

let service: TestService
let alice: TestUser
let bob: TestUser
const clock = { time: Date.now(), now: () => new Date(clock.time) }
const emailOf = ({ name }: TestUser) => `${name}@localhost.localdomain`

beforeAll(async () => {
  service = await startTestService({ clock })
})
afterAll(() => service.stop())
beforeEach(async () => {
  alice = await service.createUser()
  bob = await service.createUser()
})

const add = (user: TestUser, { armored }: Pick<GpgPerson, 'armored'>, signature?: string) =>
  user.client.post('/user/gpg_keys', {
    armored_public_key: armored,
    ...(signature !== undefined && { armored_signature: signature }),
  })
/** As if the link that CONFIRM_EMAILS mails had been followed. */
async function addProvenEmail({ client }: TestUser, email: string): Promise<void> {
  expect((await client.post('/user/emails', { emails: [email] })).status).toBe(201)
  await service.context.sql`update emails set is_proven = true where lower_email = ${email.toLowerCase()}`
}
const tokenOf = async (user: TestUser): Promise<string> => (await user.client.get('/user/gpg_key_token')).text
const sign = ({ sign }: GpgPerson, text: string) => sign(Buffer.from(text))

test('a key with an address of the account is taken and told in full', async () => {
  const key = await makeGpgKey([emailOf(alice), 'elsewhere@example.org'], true)
  const added = await add(alice, key)
  expect(added.status).toBe(201)
  const uses = { can_encrypt_comms: false, can_encrypt_storage: false }
  expect(added.body).toMatchObject({
    primary_key_id: '',
    key_id: key.keyId,
    public_key: expect.stringMatching(/^xi[A-Za-z0-9+/]+=*$/),
    emails: [
      { email: emailOf(alice), verified: true },
      { email: 'elsewhere@example.org', verified: false },
    ],
    subkeys: [
      { primary_key_id: key.keyId, can_sign: true, can_certify: false, ...uses, emails: null, subkeys: null },
      { primary_key_id: key.keyId, can_sign: false, can_certify: false, can_encrypt_comms: true },
    ],
    can_sign: true,
    can_certify: true,
    ...uses,
    verified: false,
    created_at: expect.stringMatching(/Z$/),
    expires_at: '0001-01-01T00:00:00Z',
  })
  const id = added.number('id')
  expect((await alice.client.get(`/user/gpg_keys/${id}`)).body).toEqual(added.body)
  const list = await alice.client.get('/user/gpg_keys')
  expect(list.body).toEqual([added.body])
  expect(list.headers.get('x-total-count')).toBe('1')
  expect((await bob.client.get(`/users/${alice.name}/gpg_keys`)).body).toEqual([added.body])
  expect((await alice.client.delete(`/user/gpg_keys/${id}`)).status).toBe(204)
  expect((await alice.client.get('/user/gpg_keys')).body).toEqual([])
  expect((await add(alice, key)).status).toBe(201)
})

test('a key of gpg has the times and uses that gpg shows', async () => {
  const rita = await service.createUser('rita')
  const added = await add(rita, { armored: await fixture('gpg-rsa-subkey.key.asc') })
  expect(added.body).toMatchObject({
    can_sign: false,
    can_certify: true,
    created_at: '2024-01-02T03:04:05Z',
    expires_at: '0001-01-01T00:00:00Z',
    emails: [{ email: 'rita@localhost.localdomain', verified: true }],
    subkeys: [{ can_sign: true, created_at: '2024-01-02T03:04:05Z' }],
  })
})

test('a key without an address of the account needs a proof', async () => {
  const key = await makeGpgKey(['elsewhere@example.org'], true)
  const refused = await add(alice, key)
  expect(refused.status).toBe(404)
  const token = await tokenOf(alice)
  expect(refused.string('message')).toBe(
    `None of the emails attached to the GPG key could be found. It may still be added if you provide a valid signature for the token: ${token}`,
  )
  const proved = await add(alice, key, await sign(key, `${token}\n`))
  expect(proved.status).toBe(201)
  expect(proved.body).toMatchObject({
    verified: true,
    emails: [{ verified: false }],
    subkeys: [{ verified: true }, {}],
  })
})

test('an address that was merely added says nothing of whose key it is', async () => {
  const key = await makeGpgKey(['victim@example.org'])
  expect((await alice.client.post('/user/emails', { emails: ['victim@example.org'] })).status).toBe(201)
  expect((await add(alice, key)).status).toBe(404)
  expect((await add(alice, key, await sign(key, await tokenOf(alice)))).status).toBe(201)
})

test('a proof is for one account, for a while, by that key and over that text', async () => {
  const [key, other] = [await makeGpgKey(['elsewhere@example.org']), await makeGpgKey(['elsewhere@example.org'])]
  const token = await tokenOf(alice)
  expect(token).toMatch(/^[0-9a-f]{64}$/)
  const old = await sign(key, token)
  const wrong = [
    await sign(key, await tokenOf(bob)),
    await sign(other, token),
    await sign(key, `${token} `),
    'nonsense',
  ]
  for (const signature of wrong) {
    const refused = await add(alice, key, signature)
    expect(refused.status).toBe(404)
    expect(refused.string('message')).toContain('The provided GPG key, signature and token do not match')
  }
  clock.time += 10 * 60_000
  expect((await add(alice, key, old)).status).toBe(404)
  const fresh = await sign(key, `${await tokenOf(alice)}\r\n`)
  clock.time += 5 * 60_000
  expect((await add(alice, key, fresh)).status).toBe(201)
})

test('a key is proved later on, by its identifier or that of a subkey', async () => {
  const key = await makeGpgKey([emailOf(alice)], true)
  const added = await add(alice, key)
  const armored_signature = await sign(key, await tokenOf(alice))
  const verify = (user: TestUser, key_id: string, signature = armored_signature) =>
    user.client.post('/user/gpg_key_verify', { key_id, armored_signature: signature })
  expect((await verify(bob, key.keyId)).status).toBe(404)
  expect((await verify(alice, '0')).status).toBe(404)
  expect((await verify(alice, '0000000000000001')).status).toBe(404)
  const refused = await verify(alice, key.keyId, await sign(key, 'something else'))
  expect([refused.status, refused.string('message')]).toEqual([
    422,
    expect.stringContaining(`Provide a valid signature for the token: ${await tokenOf(alice)}`),
  ])
  expect((await alice.client.post('/user/gpg_key_verify', { key_id: key.keyId })).status).toBe(422)
  expect((await alice.client.get('/user/gpg_keys')).body).toMatchObject([{ verified: false }])
  const verified = await verify(alice, added.string('subkeys.0.key_id').toLowerCase())
  expect(verified.status).toBe(200)
  expect(verified.body).toMatchObject({ id: added.number('id'), verified: true })
  expect((await verify(alice, `0x${key.keyId}`)).body).toEqual(verified.body)
})

test('a key is on the site once', async () => {
  const key = await makeGpgKey([emailOf(alice), 'shared@example.org'])
  expect((await add(alice, key, await sign(key, await tokenOf(alice)))).status).toBe(201)
  for (const user of [alice, bob]) {
    const again = await add(user, key, await sign(key, await tokenOf(user)))
    expect([again.status, again.string('message')]).toEqual([422, 'A key with the same id already exists'])
  }
  await addProvenEmail(bob, 'shared@example.org')
  const claimed = await add(bob, key)
  expect([claimed.status, claimed.string('message')]).toEqual([
    422,
    `A key with the same id already exists. If it is yours, provide a valid signature for the token: ${await tokenOf(bob)}`,
  ])
})

test('proof beats claim: who signs the token gets a key that somebody else only claims', async () => {
  const key = await makeGpgKey(['real@example.org'], true)
  const eve = await service.createUser()
  await addProvenEmail(eve, 'real@example.org')
  const claim = await add(eve, key)
  expect([claim.status, claim.body]).toMatchObject([201, { verified: false }])
  // Whoever merely claims it, too, takes it from nobody.
  await bob.client.post('/user/emails', { emails: ['REAL@example.org'] })
  expect((await add(bob, key)).status).toBe(404)
  const proved = await add(alice, key, await sign(key, await tokenOf(alice)))
  expect([proved.status, proved.body]).toMatchObject([201, { verified: true, key_id: key.keyId }])
  expect((await eve.client.get('/user/gpg_keys')).body).toEqual([])
  expect((await eve.client.get(`/user/gpg_keys/${claim.number('id')}`)).status).toBe(404)
  const armored_signature = await sign(key, await tokenOf(eve))
  expect((await eve.client.post('/user/gpg_key_verify', { key_id: key.keyId, armored_signature })).status).toBe(404)
  expect((await add(eve, key)).status).toBe(422)
  const trail = await service.admin.client.get('/admin/audit', { actor: alice.name, limit: 2 })
  expect(trail.body).toMatchObject([
    { action: 'gpg_key.create', changes: { owner: { after: alice.name } } },
    { action: 'gpg_key.delete', changes: { owner: { before: eve.name }, verified: { before: false } } },
  ])
})

test('a claim on a signing subkey yields too', async () => {
  const key = await makeGpgKey(['laptop@example.org'], true)
  await addProvenEmail(bob, 'laptop@example.org')
  expect((await add(bob, key)).status).toBe(201)
  expect((await add(alice, key, await sign(key, await tokenOf(alice)))).status).toBe(201)
  expect((await bob.client.get('/user/gpg_keys')).body).toEqual([])
  expect((await alice.client.get('/user/gpg_keys')).body).toMatchObject([{ subkeys: [{ verified: true }, {}] }])
})

/** Six at once; none may fail by the fault of the server. */
async function atOnce(send: (index: number) => Promise<Answer>): Promise<number[]> {
  const answers = await Promise.all(Array.from({ length: 6 }, (_, index) => send(index)))
  return answers.map(({ status }) => status).toSorted((a, b) => a - b)
}

test('of six who add, prove, take or delete one key at once, one does', async () => {
  const key = await makeGpgKey([emailOf(alice)], true)
  expect(await atOnce(() => add(alice, key))).toEqual([201, 422, 422, 422, 422, 422])
  const holders = await Promise.all(Array.from({ length: 6 }, () => service.createUser()))
  const proofs = await Promise.all(holders.map(async (user) => sign(key, await tokenOf(user))))
  const taken = await atOnce((index) => add(holders[index] ?? alice, key, proofs[index]))
  expect(taken).toEqual([201, 422, 422, 422, 422, 422])
  expect((await alice.client.get('/user/gpg_keys')).body).toEqual([])
  const lists = await Promise.all(holders.map(({ client }) => client.get('/user/gpg_keys')))
  const keys = lists.flatMap((list, index) => (list.text === '[]' ? [] : [[holders[index], list] as const]))
  const [[holder, list] = [undefined, undefined]] = keys
  if (!holder || !list || keys.length > 1) throw new Error('one of them has it')
  const deleted = await atOnce(() => holder.client.delete(`/user/gpg_keys/${list.number('0.id')}`))
  expect(deleted).toEqual([204, 404, 404, 404, 404, 404])
})

test('a key is proved by its holder and taken by another at once: one of them has it', async () => {
  for (let round = 0; round < 4; round += 1) {
    const [key, eve] = [await makeGpgKey(['both@example.org']), await service.createUser()]
    await addProvenEmail(eve, 'both@example.org')
    expect((await add(eve, key)).status).toBe(201)
    const [mine, theirs] = [await sign(key, await tokenOf(alice)), await sign(key, await tokenOf(eve))]
    const proof = { key_id: key.keyId, armored_signature: theirs }
    const [taken, proved] = await Promise.all([add(alice, key, mine), eve.client.post('/user/gpg_key_verify', proof)])
    expect([[201, 404].join(), [422, 200].join()]).toContain([taken.status, proved.status].join())
    const found = [await alice.client.get('/user/gpg_keys'), await eve.client.get('/user/gpg_keys')]
    expect(found.filter(({ text }) => text.includes(key.keyId))).toHaveLength(1)
    await eve.client.delete('/user/emails', { emails: ['both@example.org'] })
  }
})

test("another's subkey for encryption blocks nobody", async () => {
  const madeAt = new Date(clock.time - 86_400_000)
  const [mine, theirs, shared] = [handmadeKey(madeAt), handmadeKey(madeAt), handmadeKey(madeAt)]
  const armored = (key: typeof mine, user: TestUser) =>
    certificateOf(key, `Me <${emailOf(user)}>`, [
      packetOf(14, shared.body),
      packetOf(2, key.sign(0x18, [key.hashed, shared.hashed], { subpackets: [flags(12)] })),
    ])
  expect((await add(alice, { armored: armored(mine, alice) })).status).toBe(201)
  expect((await add(bob, { armored: armored(theirs, bob) })).status).toBe(201)
})

test('what is no key, or none to be taken, is refused with the reason', async () => {
  const key = await makeGpgKey([emailOf(alice)])
  const revoked = await key.secret.revoke()
  const cases: [string, string][] = [
    ['no key', 'nonsense'],
    ['a NUL', `\0${'x'.repeat(100)}`],
    ['a private key', key.secret.armor()],
    ['a revoked key', revoked.toPublic().armor()],
    ['a DSA key', await fixture('gpg-dsa.key.asc')],
    ['a key with which anybody can sign', certificateOf(weakKey(new Date(clock.time)), emailOf(alice))],
    ['a weak RSA key', (await makeGpgKey([emailOf(alice)], false, 1024)).armored],
    ['two keys', key.armored + key.armored],
    ['only a packet of a key', armor(packetOf(6, handmadeKey(new Date(clock.time)).body))],
    ['half a key', key.armored.slice(0, key.armored.length / 2)],
    ['too long', 'x'.repeat(600_000)],
  ]
  for (const [name, armored] of cases) {
    const refused = await add(alice, { armored })
    expect([name, refused.status]).toEqual([name, 422])
  }
  expect((await add(alice, { armored: 'nonsense' })).string('message')).toContain('is no "PGP PUBLIC KEY BLOCK"')
  for (const body of [{}, { armored_public_key: '' }, { armored_public_key: 5 }])
    expect((await alice.client.post('/user/gpg_keys', body)).status).toBe(422)
  expect((await alice.client.get('/user/gpg_keys')).body).toEqual([])
})

test('only the owner reaches a key by its number, and nobody a subkey', async () => {
  const added = await add(alice, await makeGpgKey([emailOf(alice)], true))
  const id = added.number('id')
  for (const path of [`/user/gpg_keys/${id}`, '/user/gpg_keys/999999', '/user/gpg_keys/x']) {
    expect((await bob.client.get(path)).status).toBe(404)
    expect((await bob.client.delete(path)).status).toBe(404)
    expect((await service.anonymous.get(path)).status).toBe(401)
  }
  const subkey = `/user/gpg_keys/${added.number('subkeys.0.id')}`
  expect((await alice.client.get(subkey)).status).toBe(404)
  expect((await alice.client.delete(subkey)).status).toBe(404)
  expect((await alice.client.get('/user/gpg_keys')).body).toEqual([added.body])
})

test('keys of others are told to who may know of them, hidden addresses to nobody else', async () => {
  const path = `/users/${alice.name}/gpg_keys`
  await add(alice, await makeGpgKey([emailOf(alice)]))
  expect((await service.anonymous.get(path)).status).toBe(401)
  await alice.client.patch('/user/settings', { hide_email: true })
  expect((await bob.client.get(path)).body).toMatchObject([{ emails: [] }])
  expect((await service.admin.client.get(path)).body).toMatchObject([{ emails: [{ email: emailOf(alice) }] }])
  expect((await alice.client.get(path)).body).toMatchObject([{ emails: [{ email: emailOf(alice) }] }])
  await service.admin.client.patch(`/admin/users/${alice.name}`, { login_name: alice.name, visibility: 'private' })
  expect((await bob.client.get(path)).status).toBe(404)
  expect((await bob.client.get('/users/nobody-at-all/gpg_keys')).status).toBe(404)
})

test('lists have pages', async () => {
  for (let number = 0; number < 3; number += 1) await add(alice, await makeGpgKey([emailOf(alice)]))
  const all = await alice.client.get('/user/gpg_keys')
  const page = await alice.client.get('/user/gpg_keys', { page: 2, limit: 2 })
  expect(page.headers.get('x-total-count')).toBe('3')
  expect(page.body).toMatchObject([{ id: all.number('2.id') }])
  expect((await bob.client.get(`/users/${alice.name}/gpg_keys`, { limit: 1 })).headers.get('x-total-count')).toBe('3')
})

test('a token needs the scope for reading or for writing', async () => {
  const tokenWith = async (...scopes: string[]) => {
    const basic = service.client({ basic: `${alice.name}:${alice.password}` })
    const made = await basic.post(`/users/${alice.name}/tokens`, { name: scopes.join(), scopes })
    return service.client({ token: made.string('sha1') })
  }
  const key = await makeGpgKey([emailOf(alice)])
  const body = { armored_public_key: key.armored }
  const reader = await tokenWith('read:gpg_key')
  expect((await reader.get('/user/gpg_keys')).status).toBe(200)
  expect((await reader.post('/user/gpg_keys', body)).status).toBe(403)
  const writer = await tokenWith('write:gpg_key')
  const added = await writer.post('/user/gpg_keys', body)
  expect(added.status).toBe(201)
  for (const client of [await tokenWith('read:public_key'), await tokenWith('write:repository')]) {
    expect((await client.get('/user/gpg_keys')).status).toBe(403)
    expect((await client.get('/user/gpg_key_token')).status).toBe(403)
    expect((await client.delete(`/user/gpg_keys/${added.number('id')}`)).status).toBe(403)
  }
  expect((await (await tokenWith('public-only', 'read:user')).get('/user/gpg_keys')).status).toBe(403)
  expect((await (await tokenWith('admin:gpg_key')).delete(`/user/gpg_keys/${added.number('id')}`)).status).toBe(204)
})

test('the audit trail tells of keys that came, were proved and went', async () => {
  const key = await makeGpgKey([emailOf(alice)])
  const id = (await add(alice, key)).number('id')
  const armored_signature = await sign(key, await tokenOf(alice))
  await alice.client.post('/user/gpg_key_verify', { key_id: key.keyId, armored_signature })
  await alice.client.delete(`/user/gpg_keys/${id}`)
  const trail = await service.admin.client.get('/admin/audit', { actor: alice.name, limit: 3 })
  expect(trail.body).toMatchObject([
    { action: 'gpg_key.delete', subject: { kind: 'gpg_key', id, name: key.keyId } },
    { action: 'gpg_key.verify' },
    { action: 'gpg_key.create' },
  ])
})
