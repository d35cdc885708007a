import { afterAll, beforeAll, expect, test } from 'bun:test'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { createVisitor, type PageAnswer, type Visitor } from '../harness/browser.ts'
import { startTestService, type TestService } from '../harness/service.ts'
import { consent, isConsentPage, newParty, REDIRECT } from './flow.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

/** Follows an address of a library as a browser does, saying yes, to the one that the application is called by. */
async function browse(visitor: Visitor, address: URL): Promise<URL> {
  let page: PageAnswer = await visitor.get(address.href)
  if (isConsentPage(page)) page = await consent(visitor, page)
  if (!page.location.startsWith('http')) throw new Error(`no way back: ${page.status} ${page.location}`)
  return new URL(page.location)
}

const overHttp = { execute: [openid.allowInsecureRequests] }

test.each([
  ['client_secret_basic', openid.ClientSecretBasic],
  ['client_secret_post', openid.ClientSecretPost],
] as const)('openid-client signs somebody in, with nothing but the issuer: %s', async (_, authentication) => {
  const { app, visitor, user } = await newParty(service)
  const config = await openid.discovery(
    new URL(service.url),
    app.clientId,
    app.secret,
    authentication(app.secret),
    overHttp,
  )
  const verifier = openid.randomPKCECodeVerifier()
  const state = openid.randomState()
  const nonce = openid.randomNonce()
  const address = openid.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT,
    scope: 'openid profile email groups read:user',
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
    max_age: '3600',
  })
  const back = await browse(visitor, address)
  const tokens = await openid.authorizationCodeGrant(config, back, {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
    maxAge: 3600,
    idTokenExpected: true,
  })
  const subject = tokens.claims()?.sub ?? ''
  expect(tokens.claims()).toMatchObject({ preferred_username: user.name, nonce })
  expect(await openid.fetchUserInfo(config, tokens.access_token, subject)).toMatchObject({
    preferred_username: user.name,
  })
  expect(await openid.tokenIntrospection(config, tokens.access_token)).toMatchObject({
    active: true,
    username: user.name,
  })
  const renewed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '')
  expect(renewed.claims()?.sub).toBe(subject)
  await openid.tokenRevocation(config, renewed.refresh_token ?? '')
  expect(await openid.tokenIntrospection(config, renewed.access_token)).toEqual({ active: false })
  await expect(openid.fetchUserInfo(config, renewed.access_token, subject)).rejects.toThrow()
  await expect(openid.refreshTokenGrant(config, renewed.refresh_token ?? '')).rejects.toMatchObject({
    error: 'invalid_grant',
  })
})

test('openid-client refuses an answer whose state or issuer was tampered with, and hears of a no', async () => {
  const { app, visitor } = await newParty(service)
  const config = await openid.discovery(new URL(service.url), app.clientId, app.secret, undefined, overHttp)
  const address = openid.buildAuthorizationUrl(config, { redirect_uri: REDIRECT, scope: 'openid', state: 's' })
  const back = await browse(visitor, address)
  const grant = (url: URL) => openid.authorizationCodeGrant(config, url, { expectedState: 's' })
  for (const [name, value] of [
    ['state', 'other'],
    ['iss', 'https://evil.example'],
  ] as const) {
    const changed = new URL(back)
    changed.searchParams.set(name, value)
    await expect(grant(changed)).rejects.toThrow()
  }
  const withoutIssuer = new URL(back)
  withoutIssuer.searchParams.delete('iss')
  await expect(grant(withoutIssuer)).rejects.toThrow()
  const page = await visitor.get(`${address.href}&prompt=consent`)
  const denied = await consent(visitor, page, { granted: 'false' })
  await expect(grant(new URL(denied.location))).rejects.toMatchObject({ error: 'access_denied' })
})

test('oauth4webapi signs a program on the own computer in, without a secret', async () => {
  const { visitor, user } = await newParty(service)
  // Wire: the one that git-credential-oauth carries; it listens on a port that is free.
  const client: oauth.Client = { client_id: 'a4792ccc-144e-407e-86c9-5e7d8d9c3269' }
  const redirect = 'http://127.0.0.1:51234'
  const insecure = { [oauth.allowInsecureRequests]: true }
  const issuer = new URL(service.url)
  const found = await oauth.discoveryRequest(issuer, { ...insecure, algorithm: 'oauth2' })
  const server = await oauth.processDiscoveryResponse(issuer, found)
  const verifier = oauth.generateRandomCodeVerifier()
  const address = new URL(server.authorization_endpoint ?? '')
  const query = {
    client_id: client.client_id,
    redirect_uri: redirect,
    response_type: 'code',
    scope: 'write:repository',
    state: 's',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value)
  const answer = oauth.validateAuthResponse(server, client, await browse(visitor, address), 's')
  const nobody = oauth.None()
  const code = await oauth.authorizationCodeGrantRequest(server, client, nobody, answer, redirect, verifier, insecure)
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, code)
  const repo = await service.createRepository(user, { private: true, auto_init: true })
  const url = new URL(`/${repo.owner}/${repo.name}.git`, service.url)
  url.username = 'oauth2'
  url.password = tokens.access_token
  await service.git(['clone', '-q', url.href, 'by-helper'])
  const again = await oauth.refreshTokenGrantRequest(server, client, nobody, tokens.refresh_token ?? '', insecure)
  const renewed = await oauth.processRefreshTokenResponse(server, client, again)
  const gone = await oauth.revocationRequest(server, client, nobody, renewed.refresh_token ?? '', insecure)
  await oauth.processRevocationResponse(gone)
  const refused = await oauth
    .protectedResourceRequest(
      renewed.access_token,
      'GET',
      new URL('/api/v1/user', service.url),
      undefined,
      undefined,
      insecure,
    )
    .catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(oauth.WWWAuthenticateChallengeError)
})

test('two servers over one database share a flow, each step by the other one', async () => {
  const { databaseUrl, context } = service
  const settings = { DATABASE_URL: databaseUrl, PUBLIC_URL: service.url, DATA_DIR: context.config.dataDir }
  const other = await startTestService({ settings })
  try {
    const { app, user } = await newParty(service)
    const visitor = createVisitor(service.url)
    let turn = 0
    /** The one address of the site, behind which the two take turns. */
    const next = (): string => {
      turn += 1
      return turn % 2 === 0 ? service.url : other.url
    }
    const get = (path: string) => visitor.get(new URL(path, next()).href)
    const post = (path: string, fields: Record<string, string>) => visitor.post(new URL(path, next()).href, fields)
    const verifier = openid.randomPKCECodeVerifier()
    const query = new URLSearchParams({
      client_id: app.clientId,
      redirect_uri: REDIRECT,
      response_type: 'code',
      scope: 'openid all',
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    })
    const asked = await get(`/login/oauth/authorize?${query}`)
    const redirect_to = new URL(asked.location, service.url).searchParams.get('redirect_to') ?? ''
    const entered = await post('/user/login', { user_name: user.name, password: user.password, redirect_to })
    const page = await get(entered.location)
    const fields = Object.fromEntries(
      [...page.text.matchAll(/name="([^"]+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
    )
    const allowed = await post('/login/oauth/grant', { ...fields, granted: 'true' })
    const code = new URL(allowed.location).searchParams.get('code') ?? ''
    const client = { client_id: app.clientId, client_secret: app.secret }
    const token = async (given: Record<string, string>) => {
      const body = new URLSearchParams({ ...client, ...given })
      const answer = await fetch(`${next()}/login/oauth/access_token`, { method: 'POST', body })
      expect(answer.status).toBe(200)
      return answer.json()
    }
    const first = await token({
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT,
      code_verifier: verifier,
    })
    const both = await Promise.all(
      [1, 2].map(() => token({ grant_type: 'refresh_token', refresh_token: first.refresh_token })),
    )
    expect(both[0].refresh_token).toBe(both[1].refresh_token)
    const headers = { authorization: `Bearer ${both[0].access_token}` }
    for (const url of [service.url, other.url])
      expect((await fetch(`${url}/api/v1/user`, { headers })).status).toBe(200)
    await fetch(`${next()}/login/oauth/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ ...client, token: both[1].refresh_token }),
    })
    for (const url of [service.url, other.url])
      expect((await fetch(`${url}/api/v1/user`, { headers })).status).toBe(401)
  } finally {
    await other.stop()
  }
}, 30_000)
