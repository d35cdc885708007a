import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createMessage, readKeys, readSignature, verify } from 'openpgp'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'
import { makeGpgKey, makeSshKey } from '../signatures/stage.ts'

let service: TestService
let alice: TestUser
beforeAll(async () => {
  service = await startTestService()
  alice = await service.createUser('alice')
})
afterAll(() => service.stop())

const ask = async (path: string, token?: string) => {
  const headers = new Headers(token === undefined ? {} : { authorization: `token ${token}` })
  const answer = await fetch(`${service.url}${path}`, { headers, redirect: 'manual' })
  return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() }
}
const nothing = { status: 404, type: 'text/plain;charset=utf-8', text: '404 page not found\n' }

test('the SSH keys of an account are lines without their comments', async () => {
  expect(await ask('/alice.keys')).toEqual({ status: 200, type: 'text/plain;charset=utf-8', text: '' })
  const [one, other] = [makeSshKey().line, makeSshKey().line]
  await alice.client.post('/user/keys', { title: 'one', key: `${one} alice at home` })
  await alice.client.post('/user/keys', { title: 'other', key: other })
  expect((await ask('/alice.keys')).text).toBe(`${one}\n${other}\n`)
  expect((await ask('/ALICE.keys')).text).toBe(`${one}\n${other}\n`)
})

test('unknown and hidden accounts are answered like any path without a page', async () => {
  const carol = await service.createUser('carol')
  await carol.client.post('/user/keys', { title: 'one', key: makeSshKey().line })
  expect((await ask('/carol.keys')).status).toBe(200)
  await service.admin.client.patch('/admin/users/carol', { login_name: 'carol', visibility: 'private' })
  for (const path of ['/carol.keys', '/nobody.keys', '/.keys', '/carol.kezs', '/carol', '/alice', '/nobody%20.keys'])
    expect([path, await ask(path)]).toEqual([path, nothing])
  expect((await ask('/carol.keys', carol.token)).status).toBe(200)
  expect(await ask('/carol.keys', alice.token)).toEqual(nothing)
  expect((await ask('/carol.keys', 'nonsense')).status).toBe(401)
})

test('an old name leads to nobody else', async () => {
  const dora = await service.createUser('dora')
  await dora.client.post('/user/keys', { title: 'one', key: makeSshKey().line })
  expect((await service.admin.client.post('/admin/users/dora/rename', { new_username: 'theodora' })).status).toBe(204)
  expect(await ask('/dora.keys')).toEqual(nothing)
  expect((await ask('/theodora.keys')).text).toStartWith('ssh-ed25519 ')
})

test('the addresses stand beside those of repositories', async () => {
  const { name } = await service.createRepository(alice, { name: 'named.keys' })
  expect((await alice.client.get(`/repos/alice/${name}`)).status).toBe(200)
  const refs = await fetch(`${service.url}/alice/${name}/info/refs?service=git-upload-pack`)
  expect(refs.status).toBe(200)
})

test('the OpenPGP keys of an account are one block that programs read', async () => {
  const erin = await service.createUser('erin')
  expect((await ask('/erin.gpg')).text).toContain("Note: This user hasn't uploaded any GPG keys.")
  const keys = [
    await makeGpgKey(['erin@localhost.localdomain'], true),
    await makeGpgKey(['erin@localhost.localdomain']),
  ]
  for (const { armored } of keys)
    expect((await erin.client.post('/user/gpg_keys', { armored_public_key: armored })).status).toBe(201)
  const shown = await ask('/erin.gpg')
  expect([shown.status, shown.type]).toEqual([200, 'text/plain;charset=utf-8'])
  const found = await readKeys({ armoredKeys: shown.text })
  expect(found.map((key) => key.getKeyID().toHex().toUpperCase())).toEqual(keys.map(({ keyId }) => keyId))
  expect(found.map((key) => [key.getUserIDs().length, key.subkeys.length])).toEqual([
    [1, 2],
    [1, 0],
  ])
  const content = Buffer.from('signed')
  const signature = await readSignature({ armoredSignature: (await keys[0]?.sign(content)) ?? '' })
  const message = await createMessage({ binary: content })
  const { signatures } = await verify({ message, signature, verificationKeys: found, format: 'binary' })
  expect(await signatures[0]?.verified).toBe(true)
  await erin.client.patch('/user/settings', { hide_email: true })
  const hidden = await ask('/erin.gpg')
  const bare = await readKeys({ armoredKeys: hidden.text })
  expect(bare.map((key) => [key.getUserIDs(), key.subkeys.length])).toEqual([
    [[], 2],
    [[], 0],
  ])
  await service.admin.client.patch('/admin/users/erin', { login_name: 'erin', visibility: 'private' })
  expect(await ask('/erin.gpg')).toEqual(nothing)
  expect(await ask('/nobody.gpg')).toEqual(nothing)
})
