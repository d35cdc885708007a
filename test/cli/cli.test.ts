import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nameOf } from '../../src/kernel/program-name.ts'
import { createClient } from '../harness/client.ts'
import { createBareDatabase, type TestDatabase } from '../harness/database.ts'
import { listen } from '../harness/listen.ts'
import { runProgram, serveProgram } from '../harness/program.ts'

let folder: string
let database: TestDatabase
let settings: Record<string, string>
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hearth-cli-'))
  database = await createBareDatabase()
  settings = { DATABASE_URL: database.url, DATA_DIR: join(folder, 'data') }
})
afterAll(async () => {
  await database.drop()
  rmSync(folder, { recursive: true, force: true })
})

const run = (words: string, input = '') => runProgram(words.split(' '), settings, { input })

describe('help', () => {
  test('lists every command, and each has its own', async () => {
    const { stdout } = await run('--help')
    const names = [
      'serve',
      'migrate',
      'user create',
      'user list',
      'user set-password',
      'user generate-token',
      'auth-source add',
      'auth-source list',
      'auth-source edit',
      'auth-source delete',
      'config',
      'doctor',
      'mail test',
    ]
    for (const name of names) {
      expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'))
      const help = await run(`${name} --help`)
      expect(help.exitCode).toBe(0)
      expect(help.stdout).toStartWith(`Usage: bun run start ${name}`)
      expect(help.stdout).toContain('--help')
    }
  })

  test('of a first word lists what may follow it', async () => {
    const { exitCode, stdout } = await run('user --help')
    expect(exitCode).toBe(0)
    for (const name of ['user create', 'user list', 'user set-password', 'user generate-token'])
      expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'))
    expect(stdout).not.toContain('migrate')
  })

  test.each([
    ['frobnicate', 'there is no command "frobnicate"'],
    ['user', 'say one of: user create, user list, user set-password, user generate-token'],
    ['user create', '"user create" takes NAME after it'],
    ['user create bob', '--email ADDRESS is required'],
    ['migrate --fast', 'there is no option --fast; "bun run start migrate --help" lists them\n'],
    ['serve --port 3', 'there is no option --port; it is a setting: PORT=3 bun run start serve\n'],
    [
      '--public-url=http://x',
      'there is no option --public-url; it is a setting: PUBLIC_URL=http://x bun run start serve\n',
    ],
    ['serve --admin-password hidden', 'it is a setting: ADMIN_PASSWORD=... bun run start serve\n'],
  ])('"%s" is refused with what to say instead', async (words, message) => {
    const { exitCode, stderr } = await run(words)
    expect(stderr).toContain(message)
    expect(exitCode).toBe(64)
  })
})

test('a wrong setting ends the program with 78 and names it', async () => {
  const { exitCode, stderr } = await runProgram([], { ...settings, PORT: 'http' })
  expect(stderr).toBe('PORT="http" is not allowed: a whole number, 0 to 65535\n')
  expect(exitCode).toBe(78)
})

describe('what the program needs and does not find is said in one line, with the remedy', () => {
  test('git', async () => {
    const { exitCode, stderr } = await runProgram(['user', 'list'], { ...settings, PATH: '/nowhere' })
    expect(stderr).toBe('the program git was not found. To fix it: install Git 2.39 or newer and let PATH lead there\n')
    expect(exitCode).toBe(78)
  })

  test('a git that is new enough', async () => {
    const programs = join(folder, 'programs')
    mkdirSync(programs)
    await Bun.write(join(programs, 'git'), '#!/bin/sh\necho git version 2.30.2\n')
    chmodSync(join(programs, 'git'), 0o755)
    const { exitCode, stderr } = await runProgram([], { ...settings, PORT: '0', PATH: `${programs}:/usr/bin:/bin` })
    expect(stderr).toBe('git 2.30.2 is older than 2.39. To fix it: install Git 2.39 or newer and let PATH lead there\n')
    expect(exitCode).toBe(78)
  })

  test.each([
    ['300.1.1.1', 'HOST=300.1.1.1'],
    ['192.0.2.1', 'HOST=192.0.2.1'],
    ['no-such-host.invalid', 'HOST=no-such-host.invalid'],
  ])('an address to listen on: %s', async (HOST, named) => {
    const { exitCode, stderr } = await runProgram([], { ...settings, PORT: '0', HOST })
    expect(stderr).toBe(
      `${named} is no address of this machine. To fix it: set HOST to 127.0.0.1, to 0.0.0.0 or :: for all addresses, or to one that this machine has\n`,
    )
    expect(exitCode).toBe(78)
  })

  test('a port that nobody else has', async () => {
    const other = createServer()
    const PORT = String(await listen(other))
    const { exitCode, stderr } = await runProgram([], { ...settings, PORT })
    other.close()
    expect(stderr).toBe(`PORT=${PORT} is in use. To fix it: set PORT to another port; 0 takes a free one\n`)
    expect(exitCode).toBe(78)
  })
})

test.each(['DATA_DIR', 'REPOSITORIES_DIR'])('a %s that cannot be made is said in one line', async (name) => {
  const inTheWay = join(folder, 'in the way')
  await Bun.write(inTheWay, '')
  const { exitCode, stderr } = await runProgram([], { ...settings, PORT: '0', [name]: join(inTheWay, 'data') })
  expect(stderr).toStartWith(`${name}=${join(inTheWay, 'data')} cannot be written: ENOTDIR`)
  expect(stderr).toMatch(/^[^\n]*\. To fix it: make it a folder that this user [^\n]*\n$/)
  expect(exitCode).toBe(78)
})

test.each([
  ['short', 'too short'],
  ['password', 'common'],
])('an ADMIN_PASSWORD of "%s" is said in one line', async (ADMIN_PASSWORD, fault) => {
  const { exitCode, stderr } = await runProgram([], { ...settings, PORT: '0', ADMIN_PASSWORD })
  expect(stderr).toBe(
    `ADMIN_PASSWORD is ${fault}. To fix it: set it to 8 characters or more that nobody guesses, or leave it out: then one is made and shown\n`,
  )
  expect(exitCode).toBe(78)
})

test('hints call the program as people do: in a clone there is no hearth', async () => {
  const clone = '/home/me/clone'
  expect(nameOf(`${clone}/node_modules/.hearth/0123/bin/hearth`, '/$bunfs/root/a.js')).toBe('bun run start')
  expect(nameOf('/usr/local/bin/bun', `${clone}/src/kernel/program-name.ts`)).toBe('bun run start')
  expect(nameOf('/usr/local/bin/hearth', '/$bunfs/root/a.js')).toBe('hearth')
  const nowhere = { ...settings, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }
  const { stderr } = await runProgram(['user', 'list'], nowhere)
  expect(stderr).toMatch(
    /^The database does not answer: start it, or correct DATABASE_URL\. \([^\n]+\) "bun run start doctor" [^\n]+\n$/,
  )
})

test('a first administrator that cannot be made is a wrong setting', async () => {
  const { exitCode, stderr } = await runProgram([], { ...settings, PORT: '0', ADMIN_USERNAME: 'api' })
  expect(stderr).toContain('ADMIN_USERNAME')
  expect(exitCode).toBe(78)
})

test('migrate brings an empty database up to date, once', async () => {
  const other = await createBareDatabase()
  const target = { ...settings, DATABASE_URL: other.url }
  expect((await runProgram(['migrate'], target)).stdout).toStartWith('Applied: 0000_extensions, ')
  expect((await runProgram(['migrate'], target)).stdout).toBe('The database is up to date.\n')
  await other.drop()
})

describe('accounts', () => {
  test('are created with a password from standard input, or one that is printed once', async () => {
    expect(
      (await run('user create alice --email alice@example.com --admin --password-stdin', 'open sesame 1\n')).stdout,
    ).toBe('Created alice.\n')
    expect((await run('user create bob --email bob@example.com')).stdout).toMatch(/shown only now\): [0-9a-f]{24}\n$/)
    expect((await run('user list')).stdout).toMatch(/^1\talice\talice@example.com\tadministrator\t.*\n2\tbob\t/)
  })

  test('are not created against the rules of the API', async () => {
    const taken = await run('user create Alice --email other@example.com')
    expect([taken.exitCode, taken.stderr]).toEqual([1, 'user already exists [name: Alice]\n'])
  })

  test('sign in with the token and the password that were made for them', async () => {
    const token = (await run('user generate-token bob --scopes read:user')).stdout.trim()
    await run('user set-password bob --password-stdin', 'another phrase')
    const server = await serveProgram(settings)
    const statusOf = async (credential: { token: string } | { basic: string }) =>
      (await createClient({ url: server.url, credential }).get('/user')).status
    expect(await statusOf({ token })).toBe(200)
    expect(await statusOf({ basic: 'bob:another phrase' })).toBe(200)
    expect(await statusOf({ basic: 'bob:wrong' })).toBe(401)
    // There were people already, so nobody was made up.
    expect(server.output()).not.toContain('Password')
    server.kill('SIGTERM')
    expect(await server.exited).toBe(0)
  })
})

test('a pooler that refuses what a connection begins with is told of, with where to look', async () => {
  const fields = ['SFATAL', 'C08P01', 'Munsupported startup parameter: statement_timeout', '']
    .map((one) => `${one}\0`)
    .join('')
  const answer = Buffer.concat([Buffer.from('E'), Buffer.alloc(4), Buffer.from(fields)])
  answer.writeUInt32BE(answer.length - 1, 1)
  const pooler = createServer((client) => client.once('data', () => client.end(answer)))
  const port = await listen(pooler)
  const behind = { ...settings, DATABASE_URL: `postgres://nobody@127.0.0.1:${port}/none` }
  const { exitCode, stderr } = await runProgram(['migrate'], behind)
  pooler.close()
  expect(stderr).toStartWith('The pooler in front of the database needs another setting')
  expect(stderr).toContain('unsupported startup parameter: statement_timeout')
  expect(exitCode).toBe(1)
})

describe('doctor', () => {
  test('finds that the database of the tests does not write to the disk, and nothing else', async () => {
    const { exitCode, stdout } = await run('doctor')
    expect(stdout.match(/^FAULT.*$/gm)).toEqual([expect.stringContaining('may forget answered writes')])
    expect(exitCode).toBe(1)
  })

  test('says how to reach a database that does not answer', async () => {
    const unreachable = { ...settings, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }
    const { exitCode, stdout } = await runProgram(['doctor'], unreachable)
    expect(stdout).toContain('FAULT  Database')
    expect(stdout).toContain('To fix it: start PostgreSQL, or correct DATABASE_URL')
    expect(exitCode).toBe(1)
  })

  test('finds a missing git and a folder that is open to others', async () => {
    const open = join(folder, 'open')
    mkdirSync(open)
    chmodSync(open, 0o777)
    const { exitCode, stdout } = await runProgram(['doctor'], { ...settings, REPOSITORIES_DIR: open, PATH: '/nowhere' })
    expect(stdout).toContain(`To fix it: chmod go-rw ${open}`)
    expect(stdout).toContain('FAULT  Git')
    expect(exitCode).toBe(1)
  })
})
