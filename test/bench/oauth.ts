// `bun run bench oauth [--scale FACTOR]`: what signing people in to other programs costs.
import { createVisitor } from '../harness/browser.ts'
import { type Load, type Measured, measure } from './load.ts'
import { openStage, type Stage } from './stage.ts'

const CONNECTIONS = 8
const REDIRECT = 'https://app.example/cb'

const option = (name: string, fallback: number): number => {
  const index = process.argv.indexOf(`--${name}`)
  return index < 0 ? fallback : Number(process.argv[index + 1])
}
const requests = Math.ceil(1000 * option('scale', 1))

const say = (line: string) => process.stdout.write(`${line}\n`)

const stage = await openStage(async () => undefined)
try {
  const client = await register(stage)
  const visitor = createVisitor(stage.url)
  await visitor.signIn({ name: 'root', password: stage.password })
  const authorize = (scope: string) => {
    const query = { client_id: client.client_id, redirect_uri: REDIRECT, response_type: 'code', scope }
    return visitor.get(`/login/oauth/authorize?${new URLSearchParams(query)}`)
  }
  const token = (fields: Record<string, string>) =>
    fetch(`${stage.url}/login/oauth/access_token`, {
      method: 'POST',
      body: new URLSearchParams({ ...client, ...fields }),
    })
  const exchange = (code: string) => token({ grant_type: 'authorization_code', code, redirect_uri: REDIRECT })
  await consentTo('openid profile email groups all')
  say(
    'CPU in seconds for 1,000'.padEnd(58) +
      ['requests/s', 'p50 ms', 'p99 ms', 'server', 'database', 'together'].map((cell) => cell.padStart(10)).join(''),
  )
  for (const [kind, scope] of [
    ['without an id token', 'all'],
    ['with an id token (RS256)', 'openid profile all'],
  ] as const) {
    // An authorization stays usable until a hundred newer ones were made: each code is used where it is made.
    await row(`sign-in: code and its exchange, ${kind}`, async () => exchange(await codeFor(scope)))
    const chains = await Promise.all(
      Array.from({ length: CONNECTIONS }, async () => refreshOf(await exchange(await codeFor(scope)))),
    )
    // One refresh of a family at a time, as clients do.
    await row(`refresh, ${kind}`, async () => {
      const answer = await token({ grant_type: 'refresh_token', refresh_token: chains.pop() ?? '' })
      chains.push(await refreshOf(answer.clone()))
      return answer
    })
  }
  const access = String((await (await exchange(await codeFor('openid profile email groups all'))).json()).access_token)
  const headers = { authorization: `Bearer ${access}` }
  await row('userinfo, every claim', () => fetch(`${stage.url}/login/oauth/userinfo`, { headers }))
  await row('current user by an OAuth token', () => fetch(`${stage.url}/api/v1/user`, { headers }))
  await row('current user by a personal token', () => stage.api('/user'))
  const inspected = new URLSearchParams({ ...client, token: access })
  await row('introspection', () => fetch(`${stage.url}/login/oauth/introspect`, { method: 'POST', body: inspected }))

  async function consentTo(scope: string): Promise<void> {
    const page = await authorize(scope)
    const fields = [...page.text.matchAll(/name="([^"]+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
      name,
      value,
    ])
    const answer = await visitor.post('/login/oauth/grant', { ...Object.fromEntries(fields), granted: 'true' })
    if (answer.status !== 303) throw new Error(`consent is answered with ${answer.status}`)
  }

  async function codeFor(scope: string): Promise<string> {
    const { location } = await authorize(scope)
    return new URL(location).searchParams.get('code') ?? ''
  }
} finally {
  await stage.stop()
}

async function refreshOf(answer: Response): Promise<string> {
  return String((await answer.json()).refresh_token)
}

async function register({ api }: Stage): Promise<{ client_id: string; client_secret: string }> {
  const option = { name: 'bench', redirect_uris: [REDIRECT], confidential_client: true }
  const made = await api('/user/applications/oauth2', { method: 'POST', body: JSON.stringify(option) })
  const { client_id, client_secret } = await made.json()
  return { client_id, client_secret }
}

async function row(name: string, send: Load['send']): Promise<void> {
  say(line(await measure({ name, requests, connections: CONNECTIONS, send }, stage.counted)))
}

function line({ name, requestsPerSecond, medianMs, p99Ms, serverCpu, databaseCpu }: Measured): string {
  const figures = [requestsPerSecond, medianMs, p99Ms, serverCpu, databaseCpu, serverCpu + databaseCpu]
  return name.padEnd(58) + figures.map((figure) => figure.toFixed(2).padStart(10)).join('')
}
