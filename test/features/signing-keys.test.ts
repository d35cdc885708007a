import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigError, loadConfig } from '../../src/config.ts'
import { checkSigningKey } from '../../src/doctor/machine.ts'
import { loadInstanceSigning } from '../../src/signatures/instance.ts'
import { readSshSignature } from '../../src/signatures/ssh/signature.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'
import { fixture, privateKeyFixture } from '../signatures/fixtures.ts'
import { SignedObjects } from '../signatures/stage.ts'

let service: TestService
let alice: TestUser
let repository: TestRepository
let folder: string
let keyFile: string
let publicKey: string
const email = 'alice@localhost.localdomain'
const content = Buffer.from('hello').toString('base64')

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hearth-signing-'))
  keyFile = join(folder, 'signing_key')
  writeFileSync(keyFile, await privateKeyFixture('ssh-ed25519'))
  publicKey = (await fixture('ssh-ed25519.pub')).split(' ').slice(0, 2).join(' ')
  const settings = { SIGNING_KEY: keyFile, SIGNING_NAME: 'The forge', SIGNING_EMAIL: 'forge@example.org' }
  service = await startTestService({ settings })
  alice = await service.createUser('alice')
  repository = await service.createRepository(alice)
})
afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

const signed = {
  verified: true,
  reason: expect.stringMatching(/^The forge \/ SHA256:/),
  signature: expect.stringContaining('-----BEGIN SSH SIGNATURE-----'),
  signer: { name: 'The forge', email: 'forge@example.org', username: '' },
}
const unsigned = { verified: false, reason: 'gpg.error.not_signed_commit', signature: '', signer: null }

test('the public key is told for the site and for a repository', async () => {
  for (const path of ['/signing-key', `${repository.path}/signing-key`]) {
    const shown = await service.anonymous.get(`${path}.pub`)
    expect([shown.status, shown.text]).toEqual([200, `${publicKey} forge@example.org\n`])
    expect(shown.headers.get('content-type')).toStartWith('text/plain')
    const none = await service.anonymous.get(`${path}.gpg`)
    expect([none.status, none.string('message')]).toEqual([404, 'signing key format is ssh'])
  }
  const closed = await service.createRepository(alice, { private: true })
  expect((await service.anonymous.get(`${closed.path}/signing-key.pub`)).status).toBe(404)
  expect((await alice.client.get(`${closed.path}/signing-key.pub`)).status).toBe(200)
})

test('a first commit is signed', async () => {
  for (const option of [{}, { object_format_name: 'sha256' }]) {
    const { path } = await service.createRepository(alice, option)
    expect((await service.anonymous.get(`${path}/commits`)).body).toMatchObject([{ commit: { verification: signed } }])
    expect((await service.anonymous.get(`${path}/branches/main`)).body).toMatchObject({
      commit: { verification: signed },
    })
  }
})

test('so are commits of the API, and git reads what was signed as it is', async () => {
  const path = `${repository.path}/contents`
  const created = await alice.client.post(`${path}/one`, { content, message: 'One\n\nGrüße', signoff: true })
  expect(created.body).toMatchObject({ verification: signed })
  const updated = await alice.client.put(`${path}/one`, {
    content: Buffer.from('again').toString('base64'),
    sha: created.string('content.sha'),
    author: { name: 'Alice', email },
  })
  expect(updated.body).toMatchObject({ verification: signed })
  const several = await alice.client.post(path, { files: [{ operation: 'create', path: 'two', content }] })
  expect(several.body).toMatchObject({ verification: signed })
  const deleted = await alice.client.delete(`${path}/one`, { sha: updated.string('content.sha') })
  expect(deleted.body).toMatchObject({ verification: signed })
  const list = await service.anonymous.get(`${repository.path}/commits`)
  expect(list.body).toMatchObject(Array.from({ length: 5 }, () => ({ commit: { verification: signed } })))

  // What git itself takes for the signature and for what it is over.
  const clone = join(service.git.folder, 'signed')
  await service.git(['clone', '-q', repository.cloneUrl, clone])
  const raw = await service.git(['cat-file', 'commit', created.string('commit.sha')], { cwd: clone })
  const [, header = ''] = /\ngpgsig ((?:.*\n )*.*)\n\n/.exec(raw) ?? []
  const payload = `${raw.replace(`\ngpgsig ${header}`, '')}\n`
  expect(payload).toContain('Signed-off-by: alice <')
  expect(readSshSignature(header.replaceAll('\n ', '\n')).isOver(Buffer.from(payload))).toBe(true)
})

test('the service vouches for its callers and not for whom they name', async () => {
  const bob = await service.createUser('bob')
  const path = `${repository.path}/contents`
  const id = (await alice.client.get('/user')).number('id')
  const bobs = 'bob@localhost.localdomain'
  for (const [index, committer] of [bobs, 'nobody@example.org'].entries()) {
    const made = await alice.client.post(`${path}/other${index}`, { content, committer: { email: committer } })
    expect(made.body).toMatchObject({ commit: { committer: { email: committer } }, verification: unsigned })
  }
  const mine = { name: 'Alice', email }
  const friend = { name: 'Friend', email: 'friend@example.org' }
  for (const [index, people] of [
    { author: friend, committer: mine },
    { author: mine, committer: friend },
    { author: { ...mine, email: bobs }, committer: mine },
    { author: { ...mine, email: `${id + 1}+alice@noreply.localhost` }, committer: mine },
    { author: { ...mine, email: 'forge@example.org' }, committer: mine },
  ].entries()) {
    const made = await alice.client.post(`${path}/people${index}`, { content, ...people })
    expect([index, made.body]).toMatchObject([index, { verification: unsigned }])
  }
  const second = await alice.client.post(`${path}/both`, { content, author: mine, committer: mine })
  expect(second.body).toMatchObject({ verification: signed })
  await alice.client.patch('/user/settings', { hide_email: true })
  const hidden = await alice.client.post(`${path}/hidden`, { content })
  expect(hidden.string('commit.committer.email')).toEndWith('@noreply.localhost')
  expect(hidden.body).toMatchObject({ verification: signed })
  await alice.client.patch('/user/settings', { hide_email: false })
  expect(bob.name).toBe('bob')
})

test('a commit that is changed afterwards is told as a forgery', async () => {
  const objects = new SignedObjects(service, repository)
  const { key } = service.context.signing
  if (!key) throw new Error('the service has a key')
  const sign = (bytes: Uint8Array) => Promise.resolve(key.sign(bytes))
  const sha = await objects.commit(sign, { email, change: (text) => text.replace('By hand', 'By none') })
  await objects.push(sha, 'refs/heads/forged')
  const answer = await service.anonymous.get(`${repository.path}/git/commits/${sha}`)
  expect(answer.body).toMatchObject({
    commit: { verification: { verified: false, reason: 'gpg.error.probable_bad_default_signature', signer: null } },
  })
})

test("another key's signatures count while it is trusted", async () => {
  const own = loadInstanceSigning(loadConfig({ SIGNING_KEY: keyFile }))
  const fingerprint = own.key?.fingerprint ?? ''
  expect(own.isOwn(fingerprint)).toBe(true)
  expect(own.email).toBe('hearth@noreply.localhost')
  expect(loadInstanceSigning(loadConfig({})).isOwn(fingerprint)).toBe(false)
  const trusting = loadInstanceSigning(loadConfig({ TRUSTED_SIGNING_KEYS: `SHA256:other, ${fingerprint}` }))
  expect([trusting.isOwn(fingerprint), trusting.key]).toEqual([true, undefined])
})

test('a file that holds no such key ends the start with what to do', async () => {
  const other = join(folder, 'other')
  writeFileSync(other, await privateKeyFixture('ssh-passphrase'))
  for (const [path, reason] of [
    [join(folder, 'missing'), 'ENOENT'],
    [folder, 'EISDIR'],
    [other, 'it has a passphrase'],
  ] as const) {
    const load = () => loadInstanceSigning(loadConfig({ SIGNING_KEY: path }))
    expect(load).toThrow(ConfigError)
    expect(load).toThrow(reason)
    expect(load).toThrow('ssh-keygen -t ed25519')
  }
})

test('the doctor looks at the key and at who can read it', () => {
  const found = (SIGNING_KEY?: string) => checkSigningKey(loadConfig({ SIGNING_KEY }))
  chmodSync(keyFile, 0o600)
  expect(found(keyFile)).toEqual({ subject: 'SIGNING_KEY', detail: expect.stringMatching(/^SHA256:.* signs$/) })
  chmodSync(keyFile, 0o640)
  expect(found(keyFile).remedy).toBe(`chmod 600 ${keyFile}`)
  expect(found(join(folder, 'missing')).remedy).toContain('ssh-keygen')
  expect(found().remedy).toBeUndefined()
})
