import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createClient } from '../harness/client.ts'
import { createBareDatabase } from '../harness/database.ts'
import { createGitClient } from '../harness/git.ts'
import { fromSources, runProgram, serveProgram } from '../harness/program.ts'
import { startSmtpSink } from '../harness/smtp.ts'
import { makeKey, withKey } from '../harness/ssh.ts'
import { fixture, privateKeyFixture } from '../signatures/fixtures.ts'

let folder: string
let program: readonly string[]
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hearth-executable-'))
  const built = join(folder, 'built')
  const build = Bun.spawn(
    [process.execPath, resolve(import.meta.dir, '../../src/setup/build.ts'), `--outfile=${built}`],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
  expect(await build.exited).toBe(0)
  // Far from the sources and their packages: what is not inside is not there.
  mkdirSync(join(folder, 'bin'))
  copyFileSync(built, join(folder, 'bin', 'hearth'))
  rmSync(built)
  program = [join(folder, 'bin', 'hearth')]
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('without DATABASE_URL the executable says what is missing', async () => {
  const { exitCode, stderr } = await runProgram([], { DATA_DIR: join(folder, 'none') }, { program, cwd: folder })
  expect(stderr).toStartWith('DATABASE_URL is not set, and there is no PostgreSQL inside this program.')
  expect(exitCode).toBe(78)
})

test('no file of the folder where it is started is code', async () => {
  const cwd = mkdtempSync(join(folder, 'planted-'))
  const code = 'require("node:fs").writeFileSync("obeyed", "")'
  for (const name of ['hearth.config.cjs', '.config.cjs', 'planted.ts']) writeFileSync(join(cwd, name), code)
  writeFileSync(join(cwd, 'bunfig.toml'), 'preload = ["./planted.ts"]')
  for (const way of [program, fromSources]) {
    // Bun itself obeys this one where it runs sources.
    if (way === fromSources) rmSync(join(cwd, 'bunfig.toml'))
    expect(await runProgram(['version'], {}, { program: way, cwd })).toMatchObject({ exitCode: 0, stderr: '' })
    expect(existsSync(join(cwd, 'obeyed'))).toBe(false)
  }
})

test('the executable migrates an empty database and hosts a repository', async () => {
  const database = await createBareDatabase()
  const settings = { DATABASE_URL: database.url, DATA_DIR: join(folder, 'data'), ADMIN_PASSWORD: 'open sesame 1' }
  const server = await serveProgram(settings, { program, cwd: folder })
  const client = createClient({ url: server.url, credential: { basic: 'admin:open sesame 1' } })
  const created = await client.post('/user/repos', { name: 'hello', auto_init: true, license: 'MIT', gitignores: 'Go' })
  expect(created.status).toBe(201)
  const git = createGitClient(folder)
  await git(['clone', created.string('clone_url'), 'hello'])
  const files = await git(['ls-files'], { cwd: join(git.folder, 'hello') })
  expect(files.split('\n')).toEqual(['.gitignore', 'LICENSE', 'README.md'])
  expect((await fetch(`${server.url}/api/swagger`)).status).toBe(200)
  // Refused while the value is read, which Elysia sees by the name of a class.
  expect(await client.get('/notifications?since=yesterday')).toMatchObject({ status: 422 })
  // Each in a thread of another program.
  for (const [FilePath, Text, ...pieces] of [
    ['x.md', '# Head\n\n<p style="color: red">x</p>\n\n```js\nlet a\n```', 'style="color: red"', 'hljs-keyword'],
    ['x.rst', 'Head\n===='],
  ]) {
    const { text } = await client.post('/markup', { Mode: 'file', FilePath, Text })
    expect(text).toMatch(/<h1[^>]*>\s*Head\s*<\/h1>/)
    for (const piece of pieces) expect(text).toContain(piece)
  }
  const health = await runProgram(['health'], { ...settings, PORT: new URL(server.url).port }, { program })
  expect(health.exitCode).toBe(0)
  server.kill('SIGTERM')
  expect(await server.exited).toBe(0)
  expect((await runProgram(['health'], { ...settings, PORT: new URL(server.url).port }, { program })).exitCode).toBe(1)
  await database.drop()
})

test('the executable serves Git over SSH', async () => {
  const database = await createBareDatabase()
  const data = join(folder, 'ssh')
  const settings = { DATABASE_URL: database.url, DATA_DIR: data, ADMIN_PASSWORD: 'open sesame 1', SSH_PORT: '0' }
  const server = await serveProgram({ ...settings, SSH_ENABLED: 'true' }, { program, cwd: folder })
  expect(server.output()).toMatch(/"hostKey":"SHA256:[A-Za-z0-9+/]{43}"/)
  expect(statSync(join(data, 'ssh_host_ed25519_key')).mode & 0o777).toBe(0o600)
  const client = createClient({ url: server.url, credential: { basic: 'admin:open sesame 1' } })
  const key = makeKey({ folder })
  expect((await client.post('/user/keys', { title: 'mine', key: key.line })).status).toBe(201)
  const created = await client.post('/user/repos', { name: 'hello', auto_init: true, private: true })
  const git = createGitClient(folder)
  await git(['clone', created.string('ssh_url'), 'by-ssh'], { env: withKey(key) })
  const cwd = join(git.folder, 'by-ssh')
  await git(['commit', '-q', '--allow-empty', '-m', 'more'], { cwd })
  await git(['push', '-q'], { cwd, env: withKey(key) })
  expect((await client.get('/repos/admin/hello/commits')).body).toHaveLength(2)
  server.kill('SIGTERM')
  expect(await server.exited).toBe(0)
  await database.drop()
})

test('the executable signs what it commits and reads OpenPGP keys', async () => {
  const database = await createBareDatabase()
  const key = join(folder, 'signing_key')
  await Bun.write(key, await privateKeyFixture('ssh-ed25519'))
  const settings = { DATABASE_URL: database.url, DATA_DIR: join(folder, 'signing'), ADMIN_PASSWORD: 'open sesame 1' }
  const server = await serveProgram({ ...settings, SIGNING_KEY: key }, { program, cwd: folder })
  const client = createClient({ url: server.url, credential: { basic: 'admin:open sesame 1' } })
  await client.post('/user/repos', { name: 'hello', auto_init: true })
  const commits = await client.get('/repos/admin/hello/commits')
  expect(commits.body).toMatchObject([{ commit: { verification: { verified: true } } }])
  const armored_public_key = await fixture('gpg-rsa-subkey.key.asc')
  expect((await client.post('/user/gpg_keys', { armored_public_key })).string('message')).toStartWith(
    'None of the emails',
  )
  server.kill('SIGTERM')
  expect(await server.exited).toBe(0)
  await database.drop()
})

test('the executable mails by STARTTLS and a login', async () => {
  const sink = await startSmtpSink({ login: { user: 'forge', password: 'p@ss' } })
  const settings = {
    SMTP_URL: `smtp://forge:p%40ss@127.0.0.1:${sink.port}`,
    MAIL_FROM: 'hearth@forge.example',
    SMTP_TLS: 'unverified',
  }
  const { exitCode, stderr } = await runProgram(['mail', 'test', 'zoe@example.org'], settings, { program, cwd: folder })
  await sink.stop()
  expect(stderr).toBe('')
  expect(exitCode).toBe(0)
  expect(sink.mails).toMatchObject([{ to: ['zoe@example.org'], isEncrypted: true, user: 'forge' }])
})
