import { describe, expect, test } from 'bun:test'
import { ConfigError, describeVariables, loadConfig } from '../src/config.ts'

const refusal = (env: Record<string, string>): string => {
  try {
    loadConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return 'accepted'
}

describe('a wrong value is refused with the variable, the value and what is allowed', () => {
  test.each([
    ['PORT', '70000', 'PORT="70000" is not allowed: a whole number, 0 to 65535'],
    ['PORT', '3000.5', 'PORT="3000.5" is not allowed: a whole number, 0 to 65535'],
    ['PORT', '0x50', 'PORT="0x50" is not allowed: a whole number, 0 to 65535'],
    ['DATABASE_POOL_SIZE', '1MiB', 'DATABASE_POOL_SIZE="1MiB" is not allowed: a whole number, 2 to 500'],
    ['MAX_BODY_BYTES', '2 XB', 'MAX_BODY_BYTES="2 XB" is not allowed: a number of bytes, or one with KiB, MiB or GiB'],
    ['ENABLE_SWAGGER', 'yes', 'ENABLE_SWAGGER="yes" is not allowed: true or false'],
    ['RATE_LIMIT', 'few', 'RATE_LIMIT="few" is not allowed: off, or REQUESTS/SECONDSs such as 600/60s'],
    ...['10.0.0.0/33', '10.0.0.0/', '10.0.0/8', 'proxy.example', '::1/129', '10.0.0.1/8/8', '10.0.0.1/-1'].map(
      (entry) => [
        'TRUSTED_PROXIES',
        `127.0.0.1, ${entry}`,
        `TRUSTED_PROXIES="${entry}" is not allowed: addresses, and networks such as 10.0.0.0/8, separated by commas`,
      ],
    ),
    ['LOG_FORMAT', 'xml', 'LOG_FORMAT="xml" is not allowed: one of auto, json, text'],
    [
      'PUBLIC_URL',
      'git.example',
      'PUBLIC_URL="git.example" is not allowed: an address that begins with http:// or https://',
    ],
  ])('%s=%s', (name, value, message) => {
    expect(refusal({ [name]: value })).toBe(message)
  })

  test('all of them at once', () => {
    expect(refusal({ PORT: 'a', LOG_LEVEL: 'b' }).split('\n')).toHaveLength(2)
  })

  test('but never a secret', () => {
    const message = refusal({ SECRET_KEY: 'short-secret', DATABASE_URL: 'mysql://root:pass@host/db' })
    expect(message).toContain('SECRET_KEY=(hidden)')
    expect(message).not.toContain('short-secret')
    expect(message).not.toContain('pass')
  })
})

test.each([
  ['1048576', 1048576],
  ['1MiB', 1048576],
  ['2GiB', 2147483648],
])('a size of %s is %d bytes', (text, bytes) => {
  expect(loadConfig({ MAX_BODY_BYTES: text }).maxBodyBytes).toBe(bytes)
})

test('an empty variable is an absent one, and a list is separated by commas', () => {
  const config = loadConfig({ PORT: '', CORS_ORIGINS: ' https://a.example, https://b.example ,' })
  expect(config.port).toBe(3000)
  expect(config.corsOrigins).toEqual(['https://a.example', 'https://b.example'])
})

test('folders are absolute, and repositories lie in DATA_DIR unless told otherwise', () => {
  expect(loadConfig({ DATA_DIR: '/srv/hearth' }).repositoriesDir).toBe('/srv/hearth/repositories')
  expect(loadConfig({ DATA_DIR: '/srv/hearth', REPOSITORIES_DIR: '/mnt/git' }).repositoriesDir).toBe('/mnt/git')
  expect(loadConfig({}).dataDir).toStartWith('/')
})

test('settings cannot be changed afterwards', () => {
  const config = loadConfig({})
  expect(() => Object.assign(config, { port: 1 })).toThrow()
})

/** Settled with the foundation, for areas that come later. */
const LATER = ['ALLOW_REGISTRATION', 'WEBHOOK_ALLOWED_HOSTS', 'SSH_ENABLED']

/** A variable that nothing reads would be a promise that is not kept. */
test('every variable has a reader', async () => {
  const sources = new Bun.Glob('src/**/*.ts').scan(`${import.meta.dir}/..`)
  const texts: string[] = []
  for await (const path of sources)
    if (path !== 'src/config.ts') texts.push(await Bun.file(`${import.meta.dir}/../${path}`).text())
  const all = texts.join('\n')
  const unread = describeVariables().filter(({ field }) => !new RegExp(`\\b${field}\\b`).test(all))
  expect(unread.map(({ name }) => name).filter((name) => !LATER.includes(name))).toEqual([])
})
