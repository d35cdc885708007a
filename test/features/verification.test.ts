import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { storagePath } from '../../src/git/storage.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'
import { fixture } from '../signatures/fixtures.ts'
import {
  type GpgPerson,
  type HandmadeCommit,
  makeGpgKey,
  makeSshKey,
  SignedObjects,
  type Signer,
  type SshPerson,
} from '../signatures/stage.ts'

let service: TestService
let alice: TestUser
let bob: TestUser
let repository: TestRepository
let objects: SignedObjects
let gpg: GpgPerson
let ssh: SshPerson
const emailOf = ({ name }: TestUser) => `${name}@localhost.localdomain`

beforeAll(async () => {
  service = await startTestService()
  alice = await service.createUser('alice')
  bob = await service.createUser('bob')
  repository = await service.createRepository(alice)
  objects = new SignedObjects(service, repository)
  gpg = await makeGpgKey([emailOf(alice)], true)
  ssh = makeSshKey()
  expect((await alice.client.post('/user/gpg_keys', { armored_public_key: gpg.armored })).status).toBe(201)
  expect((await alice.client.post('/user/keys', { title: 'signing', key: ssh.line })).status).toBe(201)
})
afterAll(() => service.stop())

let counter = 0
/** Pushes a commit to a branch of its own and returns its id. */
async function pushed(sign: Signer, commit: Partial<HandmadeCommit> = {}): Promise<string> {
  counter += 1
  const sha = await objects.commit(sign, { email: emailOf(alice), message: `Commit ${counter}\n`, ...commit })
  await objects.push(sha, `refs/heads/b${counter}`)
  return sha
}

const verificationOf = async (sha: string, client = bob.client): Promise<unknown> => {
  const answer = await client.get(`${repository.path}/git/commits/${sha}`)
  expect(answer.status).toBe(200)
  return Reflect.get(Object(Reflect.get(Object(answer.body), 'commit')), 'verification')
}

/** Puts an object among those of the repository, also one that nobody may push. */
function put(type: 'commit' | 'tag', content: Buffer): Promise<string> {
  const folder = join(service.context.config.repositoriesDir, storagePath(repository.id))
  return service.git(['hash-object', '--literally', '-t', type, '-w', '--stdin'], {
    cwd: folder,
    input: new Blob([new Uint8Array(content)]),
  })
}

const refused = (reason: string) => ({ verified: false, reason: `gpg.error.${reason}`, signer: null })

test('a commit that an SSH key of the account signed is verified wherever it is told', async () => {
  const sha = await pushed(ssh.sign, { message: 'Over SSH: ä\n' })
  const fingerprint = (await alice.client.get('/users/alice/keys')).string('0.fingerprint')
  const expected = {
    verified: true,
    reason: `alice / ${fingerprint}`,
    signature: expect.stringContaining('-----BEGIN SSH SIGNATURE-----\n'),
    payload: expect.stringMatching(/^tree [0-9a-f]{40}\nauthor .*\ncommitter .*\n\nOver SSH: ä\n$/),
    signer: { name: 'alice', email: emailOf(alice), username: 'alice' },
  }
  expect(await verificationOf(sha)).toEqual(expected)
  expect(await verificationOf(sha, service.anonymous)).toEqual(expected)
  const branch = await bob.client.get(`${repository.path}/branches/b${counter}`)
  expect(branch.body).toMatchObject({ commit: { id: sha, verification: expected } })
  const list = await bob.client.get(`${repository.path}/commits`, { sha })
  expect(list.body).toMatchObject([{ sha, commit: { verification: expected } }])
  const bare = await bob.client.get(`${repository.path}/commits`, { sha, verification: false })
  expect(bare.body).toMatchObject([{ sha, commit: { verification: null } }])
  const compared = await bob.client.get(`${repository.path}/compare/main...b${counter}`)
  expect(compared.body).toMatchObject({ commits: [{ commit: { verification: expected } }] })
})

test('one that the signing subkey of an OpenPGP key signed too', async () => {
  const sha = await pushed(gpg.sign)
  const keys = await alice.client.get('/user/gpg_keys')
  expect(keys.body).toMatchObject([{ subkeys: [{ can_sign: true }, { can_sign: false }] }])
  const keyId = keys.string('0.subkeys.0.key_id')
  expect(await verificationOf(sha)).toMatchObject({
    verified: true,
    reason: `alice / ${keyId}`,
    signer: { name: 'alice' },
  })
  const branches = await bob.client.get(`${repository.path}/branches`, { limit: 50 })
  expect(branches.text).toContain(`"reason":"alice / ${keyId}"`)
  expect(branches.text).toContain('"reason":"gpg.error.not_signed_commit"')
})

test('what gpg and ssh-keygen themselves signed is verified', async () => {
  const people: [string, string, string][] = [
    ['rita', 'gpg-rsa-subkey', 'gpg_keys'],
    ['nora', 'gpg-nistp256', 'gpg_keys'],
  ]
  for (const [name, key] of people) {
    const user = await service.createUser(name)
    const added = await user.client.post('/user/gpg_keys', { armored_public_key: await fixture(`${key}.key.asc`) })
    expect(added.status).toBe(201)
    const signature = (await fixture(`${key}.sig.asc`)).trimEnd().replaceAll('\n', '\n ')
    const content = (await fixture('payload.txt')).replace('\n\n', `\ngpgsig ${signature}\n\n`)
    const sha = await objects.write('commit', Buffer.from(content))
    await objects.push(sha, `refs/heads/${key}`)
    // Its committer is alice, whose key it is not; as the one who made it, it would be verified.
    expect(await verificationOf(sha)).toMatchObject(refused('no_committer_account'))
    await service.context
      .sql`update emails set is_activated = false, is_primary = false where email = ${emailOf(alice)}`
    await service.context.sql`insert into emails (user_id, email, is_activated)
      select id, ${emailOf(alice)}, true from users where name = ${name}`
    expect(await verificationOf(sha)).toMatchObject({ verified: true, signer: { name } })
    await service.context.sql`delete from emails where email = ${emailOf(alice)} and not is_primary and is_activated`
    await service.context.sql`update emails set is_activated = true, is_primary = true where email = ${emailOf(alice)}`
  }
  const line = (await fixture('ssh-rsab3072.pub')).trim()
  expect((await alice.client.post('/user/keys', { title: 'rsa', key: line })).status).toBe(201)
  const signature = (await fixture('ssh-rsab3072.sig')).trimEnd().replaceAll('\n', '\n ')
  const content = (await fixture('payload.txt')).replace('\n\n', `\ngpgsig ${signature}\n\n`)
  const sha = await objects.write('commit', Buffer.from(content))
  await objects.push(sha, 'refs/heads/by-ssh-keygen')
  expect(await verificationOf(sha)).toMatchObject({ verified: true, signer: { name: 'alice', email: emailOf(alice) } })
})

test('why another is not verified', async () => {
  const elsewhere = await makeGpgKey([emailOf(alice)])
  const hasChanged = (content: string) => content.replace('Commit', 'Komitt')
  const isBroken = (content: string) => content.replace(/(SIGNATURE-----\n)( [^ ]*\n)?/, '$1 %%%%\n')
  const cases: [string, string, Signer, Partial<HandmadeCommit>][] = [
    ['an unknown OpenPGP key', 'no_gpg_keys_found', elsewhere.sign, {}],
    ['an unknown SSH key', 'no_gpg_keys_found', makeSshKey().sign, {}],
    ['another address, OpenPGP', 'no_committer_account', gpg.sign, { email: emailOf(bob) }],
    ['another address, SSH', 'no_committer_account', ssh.sign, { email: emailOf(bob) }],
    ["nobody's address", 'no_committer_account', ssh.sign, { email: 'nobody@example.org' }],
    ['a changed commit, OpenPGP', 'probable_bad_signature', gpg.sign, { change: hasChanged }],
    ['a changed commit, SSH', 'probable_bad_signature', ssh.sign, { change: hasChanged }],
    ['a broken signature, OpenPGP', 'extract_sign', gpg.sign, { change: isBroken }],
    ['a broken signature, SSH', 'extract_sign', ssh.sign, { change: isBroken }],
    ['no signature at all', 'extract_sign', () => Promise.resolve('nonsense'), {}],
    ['a signature of the other kind of ids', 'not_signed_commit', ssh.sign, { header: 'gpgsig-sha256' }],
  ]
  for (const [name, reason, sign, commit] of cases)
    expect([name, await verificationOf(await pushed(sign, commit))]).toMatchObject([name, refused(reason)])
})

test('addresses count in any letter case, hidden ones by what stands for them, unconfirmed ones never', async () => {
  const upper = await pushed(ssh.sign, { email: 'ALICE@localhost.localdomain' })
  expect(await verificationOf(upper)).toMatchObject({ verified: true })
  const id = (await alice.client.get('/user')).number('id')
  for (const email of [`${id}+alice@noreply.localhost`, `${id}+former@noreply.localhost`, 'alice@noreply.localhost'])
    expect(await verificationOf(await pushed(ssh.sign, { email }))).toMatchObject({ verified: true, signer: { email } })
  const other = await pushed(ssh.sign, { email: `${id + 1}+alice@noreply.localhost` })
  expect(await verificationOf(other)).toMatchObject(refused('no_committer_account'))
  const { sql } = service.context
  await sql`insert into emails (user_id, email, is_activated) values (${id}, 'new@example.org', false)`
  const unconfirmed = await pushed(ssh.sign, { email: 'new@example.org' })
  expect(await verificationOf(unconfirmed)).toMatchObject(refused('no_committer_account'))
  await sql`update emails set is_activated = true where email = 'new@example.org'`
  expect(await verificationOf(unconfirmed)).toMatchObject({ verified: true })
})

test('an address that stands for another account counts for nobody else, even where a row says so', async () => {
  const { sql } = service.context
  const [id, hearth] = [(await bob.client.get('/user')).number('id'), await service.createUser('hearth')]
  const key = makeSshKey()
  expect((await hearth.client.post('/user/keys', { title: 'mine', key: key.line })).status).toBe(201)
  for (const email of [`${id}+bob@noreply.localhost`, 'bob@noreply.localhost', 'hearth@noreply.localhost']) {
    // As an older version of the service has let it in.
    await sql`insert into emails (user_id, email, is_activated) select id, ${email}, true from users where name = 'alice'`
    const sha = await pushed(ssh.sign, { email })
    expect([email, await verificationOf(sha)]).toMatchObject([email, refused('no_committer_account')])
    const told = await bob.client.get(`${repository.path}/git/commits/${sha}`)
    expect(told.body).toMatchObject({ committer: email.startsWith('hearth') ? null : { login: 'bob' } })
    await sql`delete from emails where email = ${email}`
  }
  const asService = await pushed(key.sign, { email: 'hearth@noreply.localhost' })
  expect(await verificationOf(asService)).toMatchObject(refused('no_committer_account'))
})

test('a commit that is no UTF-8 is verified by its bytes, in branches too', async () => {
  for (const sign of [ssh.sign, gpg.sign]) {
    const commit = { message: 'Gr\xfc\xdfe\n', head: 'encoding ISO-8859-1\n', encoding: 'latin1' as const }
    const sha = await pushed(sign, commit)
    expect(await verificationOf(sha)).toMatchObject({ verified: true })
    const branch = await bob.client.get(`${repository.path}/branches/b${counter}`)
    expect(branch.body).toMatchObject({ commit: { verification: { verified: true } } })
  }
})

test('a repository with long ids has a header of its own', async () => {
  const long = await service.createRepository(alice, { auto_init: false, object_format_name: 'sha256' })
  const there = new SignedObjects(service, long, 'sha256')
  const sha = await there.commit(ssh.sign, { email: emailOf(alice), header: 'gpgsig-sha256' })
  await there.push(sha, 'refs/heads/main')
  const list = await alice.client.get(`${long.path}/commits`)
  expect(list.body).toMatchObject([{ sha, commit: { verification: { verified: true, signer: { name: 'alice' } } } }])
})

test('annotated tags are verified against who tagged', async () => {
  const target = await pushed(ssh.sign)
  for (const [index, sign] of [ssh.sign, gpg.sign].entries()) {
    const message = 'It quotes\n-----BEGIN PGP SIGNATURE-----\nand goes on\n'
    const tag = { email: emailOf(alice), target, name: `v${index}`, message }
    const good = await objects.tag(sign, tag)
    await objects.push(good, `refs/tags/v${index}`)
    const answer = await bob.client.get(`${repository.path}/git/tags/${good}`)
    expect(answer.body).toMatchObject({ message, verification: { verified: true, signer: { name: 'alice' } } })
    const byBob = await objects.tag(sign, { ...tag, email: emailOf(bob) })
    await objects.push(byBob, `refs/tags/w${index}`)
    const other = await bob.client.get(`${repository.path}/git/tags/${byBob}`)
    expect(other.body).toMatchObject({ verification: refused('no_committer_account') })
  }
})

test('a key that goes takes its verdicts with it, and no reader keeps an old answer', async () => {
  const key = makeSshKey()
  const sha = await pushed(key.sign)
  const url = `${repository.path}/git/commits/${sha}`
  const unknown = await bob.client.get(url)
  const added = await alice.client.post('/user/keys', { title: 'short', key: key.line })
  const after = await bob.client.request(url, { headers: { 'if-none-match': unknown.headers.get('etag') ?? '' } })
  expect(after.status).toBe(200)
  expect(await verificationOf(sha)).toMatchObject({ verified: true })
  const same = await bob.client.request(url, { headers: { 'if-none-match': after.headers.get('etag') ?? '' } })
  expect(same.status).toBe(304)
  await alice.client.delete(`/user/keys/${added.number('id')}`)
  expect(await verificationOf(sha)).toMatchObject(refused('no_gpg_keys_found'))
  const branch = await bob.client.get(`${repository.path}/branches/b${counter}`)
  expect(branch.body).toMatchObject({ commit: { verification: refused('no_gpg_keys_found') } })
})

test('of a hidden signer only those know who may know of the account', async () => {
  const carol = await service.createUser('carol')
  const [key, held] = [makeSshKey(), await makeGpgKey([emailOf(carol)])]
  await carol.client.post('/user/keys', { title: 'mine', key: key.line })
  await carol.client.post('/user/gpg_keys', { armored_public_key: held.armored })
  for (const sign of [key.sign, held.sign]) {
    const sha = await pushed(sign, { email: emailOf(carol) })
    await service.admin.client.patch('/admin/users/carol', { login_name: 'carol', visibility: 'private' })
    expect(await verificationOf(sha)).toMatchObject(refused('no_gpg_keys_found'))
    expect(await verificationOf(sha, carol.client)).toMatchObject({ verified: true, signer: { name: 'carol' } })
    await service.admin.client.patch('/admin/users/carol', { login_name: 'carol', visibility: 'public' })
    expect(await verificationOf(sha)).toMatchObject({ verified: true })
  }
})

test('an OpenPGP key counts while one of its addresses is confirmed, or its owner has proved to hold it', async () => {
  const dave = await service.createUser('dave')
  await dave.client.post('/user/emails', { emails: ['second@example.org'] })
  await service.context.sql`update emails set is_proven = true where lower_email = 'second@example.org'`
  const held = await makeGpgKey(['second@example.org'])
  expect((await dave.client.post('/user/gpg_keys', { armored_public_key: held.armored })).status).toBe(201)
  const sha = await pushed(held.sign, { email: emailOf(dave) })
  expect(await verificationOf(sha)).toMatchObject({ verified: true, reason: `dave / ${held.keyId}` })
  await dave.client.delete('/user/emails', { emails: ['second@example.org'] })
  expect(await verificationOf(sha)).toMatchObject(refused('no_gpg_keys_found'))
  const token = (await dave.client.get('/user/gpg_key_token')).text
  const proof = { key_id: held.keyId, armored_signature: await held.sign(Buffer.from(token)) }
  expect((await dave.client.post('/user/gpg_key_verify', proof)).status).toBe(200)
  expect(await verificationOf(sha)).toMatchObject({ verified: true })
})

test('a commit that programs could read in two ways is not verified, whoever signed it', async () => {
  const headerBehind = (header: string) => (content: string) =>
    content.replace(/(-----END [A-Z]+ SIGNATURE-----\n)\n/, (_, end) => `${end}${header}\n\n`)
  const cases: [string, string, (content: string) => string][] = [
    ['another encoding behind CR', '', headerBehind('gpgsig-note x\rencoding utf-16le\rx')],
    ['another encoding in a header that is not signed', '', headerBehind('gpgsignature x')],
    ['a second signature', '', headerBehind('gpgsig -----BEGIN SSH SIGNATURE-----')],
    ['text behind the signature', '', (content) => content.replace(/(-----END [A-Z]+ SIGNATURE-----)/, '$1\n more')],
    ['a second author', `author Bob <${emailOf(bob)}> 1 +0000\n`, String],
    ['a second committer', `committer Bob <${emailOf(bob)}> 1 +0000\n`, String],
    ['a second tree', `tree ${'0'.repeat(40)}\n`, String],
    ['a late parent', `parent ${'0'.repeat(40)}\n`, String],
    ['two encodings', 'encoding UTF-8\nencoding ISO-8859-1\n', String],
    ['a committer that goes on', ' and on\n', String],
    ['CR in a header', 'note a\rb\n', String],
    ['an empty name', '\u00a0 x\n', String],
  ]
  for (const [name, head, change] of cases)
    for (const sign of [ssh.sign, gpg.sign]) {
      const sha = await pushed(sign, { head, change })
      const verdict = await verificationOf(sha)
      expect([name, verdict]).toMatchObject([name, refused('extract_sign')])
    }
  // Nobody may push one with NUL.
  const withNul = await objects.commit(ssh.sign, { email: emailOf(alice), message: 'One\n\0\nand another\n' })
  expect(await verificationOf(await put('commit', await objects.read(withNul)))).toMatchObject(refused('extract_sign'))
  const plain = await verificationOf(await pushed(gpg.sign, { head: 'note a\n goes on\nnote b\n' }))
  expect(plain).toMatchObject({ verified: true })
})

test('what a verified commit or tag shows is what was signed, byte for byte', async () => {
  // As an encoding would read it that stands where only some programs look: the signed text has none.
  const change = (content: string) =>
    content.replace(/(-----END [A-Z]+ SIGNATURE-----\n)\n/, (_, end) => `${end} \rencoding utf-16le\n\n`)
  const message = 'What was signed\n'
  const forged = await bob.client.get(`${repository.path}/git/commits/${await pushed(ssh.sign, { message, change })}`)
  expect(forged.body).toMatchObject({ commit: { message, verification: refused('extract_sign') } })
  const marked = '\ufeffMarked, with CR\r\nin it\n'
  const sha = await pushed(ssh.sign, { message: marked })
  const answer = await bob.client.get(`${repository.path}/git/commits/${sha}`)
  expect(answer.body).toMatchObject({ commit: { message: marked, verification: { verified: true } } })
  for (const separator of ['\r', '\u2028']) {
    const quoted = `Before${separator}-----BEGIN SSH SIGNATURE-----\nafter\n`
    const tag = await objects.tag(ssh.sign, { email: emailOf(alice), target: sha, name: 'quoted', message: quoted })
    await objects.push(tag, `refs/tags/quoted${separator.codePointAt(0)}`)
    const told = await bob.client.get(`${repository.path}/git/tags/${tag}`)
    expect(told.body).toMatchObject({ message: quoted, verification: { verified: true } })
  }
})

test('a tag that programs could read in two ways is not verified', async () => {
  const target = await pushed(ssh.sign)
  const person = `Somebody <${emailOf(alice)}> 1704164645 +0000`
  const tagger = `tagger ${person}\n`
  const start = `object ${target}\ntype commit\n`
  const cases: [string, string][] = [
    ['two names', `${start}tag v1\ntag v2\n${tagger}`],
    ['two objects', `${start}object ${target}\ntag v1\n${tagger}`],
    ['two taggers', `${start}tag v1\n${tagger}tagger Bob <${emailOf(bob)}> 1 +0000\n`],
    ['a name that goes on', `${start}tag v1\n v2\n${tagger}`],
    ['CR in a name', `${start}tag v1\rv2\n${tagger}`],
    ['a signature in its head', `${start}tag v1\n${tagger}gpgsig x\n`],
    ['two addresses', `${start}tag v1\ntagger A <${emailOf(bob)}> <${emailOf(alice)}> 1 +0000\n`],
    ['a tree as a commit', `tree ${target}\nauthor ${person}\ncommitter ${person}\n`],
  ]
  for (const [name, head] of cases) {
    const content = Buffer.from(`${head}\nA tag\n`)
    const sha = await put('tag', Buffer.concat([content, Buffer.from(await ssh.sign(content))]))
    const answer = await bob.client.get(`${repository.path}/git/tags/${sha}`)
    expect([name, answer.body]).toMatchObject([name, { verification: refused('extract_sign') }])
  }
})

test('a tag of a tag has the verdict of its own signature', async () => {
  const target = await pushed(ssh.sign)
  const inner = await objects.tag(ssh.sign, { email: emailOf(alice), target, name: 'inner' })
  const content = `object ${inner}\ntype tag\ntag outer\ntagger Bob <${emailOf(bob)}> 1704164645 +0000\n\nOuter\n`
  const copied = (await ssh.sign(Buffer.from('something else'))).trimEnd()
  const outer = await objects.write('tag', Buffer.from(`${content}${copied}\n`))
  await objects.push(outer, 'refs/tags/outer')
  const told = await bob.client.get(`${repository.path}/git/tags/${outer}`)
  expect(told.body).toMatchObject({
    object: { sha: inner, type: 'tag' },
    verification: refused('probable_bad_signature'),
  })
  const own = await bob.client.get(`${repository.path}/git/tags/${inner}`)
  expect(own.body).toMatchObject({ verification: { verified: true } })
})
