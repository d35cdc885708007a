import { afterAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { utils } from 'ssh2'
import { ConfigError, loadConfig } from '../../src/config.ts'
import { checkSsh } from '../../src/doctor/machine.ts'
import { loadHostKey } from '../../src/ssh/host-key.ts'
import { openSshServer } from '../../src/ssh/server.ts'
import { listen } from '../harness/listen.ts'
import { startTestService } from '../harness/service.ts'
import { makeKey } from '../harness/ssh.ts'

const folder = mkdtempSync(join(tmpdir(), 'hearth-ssh-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the host key', () => {
  test('is made once, for its owner alone', () => {
    const dataDir = join(folder, 'new')
    const made = loadHostKey({ dataDir })
    expect(made.fingerprint).toMatch(/^SHA256:[A-Za-z0-9+/]{43}$/)
    expect(loadHostKey({ dataDir })).toEqual(made)
    expect(statSync(join(dataDir, 'ssh_host_ed25519_key')).mode & 0o777).toBe(0o600)
  })

  test('is examined by doctor, which makes none', () => {
    const dataDir = join(folder, 'examined')
    const config = loadConfig({ DATA_DIR: dataDir, SSH_ENABLED: 'true' })
    expect(checkSsh(config)).toEqual({ subject: 'SSH_ENABLED', detail: 'on; the host key is made at the first start' })
    const { fingerprint } = loadHostKey(config)
    expect(checkSsh(config)).toEqual({ subject: 'SSH_ENABLED', detail: `on; the host key is ${fingerprint}` })
    chmodSync(join(dataDir, 'ssh_host_ed25519_key'), 0o644)
    expect(checkSsh(config).remedy).toStartWith('chmod 600 ')
  })

  test('may be a file of ssh-keygen', () => {
    const { file } = makeKey({ folder })
    expect(loadHostKey({ dataDir: folder, sshHostKey: file }).secret).toBe(readFileSync(file, 'utf8'))
  })

  test.each([
    ['that is missing', undefined],
    ['without a key', 'hello'],
    ['of another kind', utils.generateKeyPairSync('ecdsa', { bits: 256 }).private],
  ])('a file %s stops the start', (_, content) => {
    const path = join(folder, crypto.randomUUID())
    if (content !== undefined) writeFileSync(path, content)
    if (content !== undefined) chmodSync(path, 0o600)
    const load = () => loadHostKey({ dataDir: folder, sshHostKey: path })
    expect(load).toThrow(ConfigError)
    expect(load).toThrow('SSH_HOST_KEY=')
  })
})

test('a port that is taken stops the start', async () => {
  const server = createServer()
  const port = String(await listen(server))
  const config = loadConfig({ DATA_DIR: folder, SSH_PORT: port })
  await expect(openSshServer(config)).rejects.toThrow(`SSH_PORT=${port} cannot be used: `)
  server.close()
})

test.each([
  ['SSH that is off, on the usual port', { SSH_PORT: '22' }, 'git@git.example:'],
  ['a port that is passed on', { SSH_ENABLED: 'true', SSH_PORT: '0', SSH_PUBLIC_PORT: '22' }, 'git@git.example:'],
  ['another port', { SSH_PUBLIC_PORT: '2200' }, 'ssh://git@git.example:2200/'],
  ['the default', {}, 'ssh://git@git.example:2222/'],
])('ssh_url with %s', async (_, settings, root) => {
  const service = await startTestService({ settings: { PUBLIC_URL: 'https://git.example:8443/', ...settings } })
  const user = await service.createUser()
  const { name, path } = await service.createRepository(user)
  expect((await user.client.get(path)).string('ssh_url')).toBe(`${root}${user.name}/${name}.git`)
  await service.stop()
})
