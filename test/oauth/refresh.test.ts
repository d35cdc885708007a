import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestService } from '../harness/service.ts'
import { codeFor, exchange, newParty, refresh, register, sendForm, tokensFor, tokensIn } from './flow.ts'
import { whileHeld } from './held.ts'

let service: TestService
let now = new Date()
beforeAll(async () => {
  service = await startTestService({ clock: { now: () => now } })
})
afterAll(() => service.stop())

const later = (seconds: number) => {
  now = new Date(now.getTime() + seconds * 1000)
}
const whoami = (token: string) => service.client({ token }).get('/user')
const refused = (code: string, description: string) => ({
  status: 400,
  body: { error: code, error_description: description },
})

test('a refresh gives new tokens, as a form and as JSON, and the old access token lives out', async () => {
  const party = await newParty(service)
  const first = await tokensFor(party, 'openid all', { nonce: 'n' })
  const second = tokensIn(await refresh(party, first.refresh))
  expect(second.refresh).not.toBe(first.refresh)
  expect(second.body).toMatchObject({ token_type: 'bearer', expires_in: 3600, id_token: expect.any(String) })
  for (const { access } of [first, second]) expect((await whoami(access)).status).toBe(200)
  const { clientId: client_id, secret: client_secret } = party.app
  const answer = await fetch(`${service.url}/login/oauth/access_token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ grant_type: 'refresh_token', refresh_token: second.refresh, client_id, client_secret }),
  })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('cache-control')).toBe('no-store')
})

test('a code is good for ten minutes (T7)', async () => {
  const party = await newParty(service)
  const [first, second] = [await codeFor(party), await codeFor(party)]
  later(599)
  expect((await exchange(party, first)).status).toBe(200)
  later(2)
  expect(await exchange(party, second)).toMatchObject(refused('invalid_grant', 'authorization code expired'))
})

test('who asks twice in a moment gets the same answer', async () => {
  const party = await newParty(service)
  const first = await tokensFor(party, 'all')
  const second = tokensIn(await refresh(party, first.refresh))
  later(5)
  const again = tokensIn(await refresh(party, first.refresh))
  expect([again.access, again.refresh]).toEqual([second.access, second.refresh])
  expect(again.body.expires_in).toBe(3595)
  tokensIn(await refresh(party, again.refresh))
})

test('of eight refreshes at once one wins, and all get its answer', async () => {
  const party = await newParty(service)
  const first = await tokensFor(party, 'all')
  const eight = Array.from({ length: 8 }, () => () => refresh(party, first.refresh))
  const replies = await whileHeld(service, 'oauth_authorizations', eight)
  const given = replies.map((reply) => tokensIn(reply))
  expect(new Set(given.map((tokens) => tokens.refresh)).size).toBe(1)
  expect(new Set(given.map((tokens) => tokens.access)).size).toBe(1)
  const [row] = await service.context.sql<{ tokens: number }[]>`
    select count(*)::int as tokens from oauth_access_tokens
    where authorization_id = (select max(id) from oauth_authorizations)`
  expect(row?.tokens).toBe(2)
})

test('an old refresh token ends its family, and no other', async () => {
  const party = await newParty(service)
  const first = await tokensFor(party, 'all')
  const otherDevice = await tokensFor(party, 'all')
  const second = tokensIn(await refresh(party, first.refresh))
  later(11)
  expect(await refresh(party, first.refresh)).toMatchObject(refused('invalid_grant', 'token was already used'))
  for (const { access } of [first, second]) expect((await whoami(access)).status).toBe(401)
  expect(await refresh(party, second.refresh)).toMatchObject(refused('invalid_grant', 'grant does not exist'))
  expect((await whoami(otherDevice.access)).status).toBe(200)
  tokensIn(await refresh(party, otherDevice.refresh))
})

test('in the moment too, once the next token was used', async () => {
  const party = await newParty(service)
  const first = await tokensFor(party)
  const second = tokensIn(await refresh(party, first.refresh))
  tokensIn(await refresh(party, second.refresh))
  expect(await refresh(party, first.refresh)).toMatchObject(refused('invalid_grant', 'token was already used'))
})

test.each([
  ['a wrong secret', { client_secret: 'wrong' }, 'invalid_client', 'invalid client secret'],
  ['an unknown client', { client_id: 'x' }, 'invalid_client', "cannot load client with client id: 'x'"],
  ['no token', { refresh_token: undefined }, 'invalid_request', 'unable to parse refresh token'],
  ['garbage', { refresh_token: 'garbage' }, 'invalid_grant', 'unable to parse refresh token'],
  ['an unknown token', { refresh_token: `gtr_${'a'.repeat(104)}` }, 'invalid_grant', 'grant does not exist'],
])('%s is refused, and the token stays good', async (_, wrong, code, description) => {
  const party = await newParty(service)
  const { refresh: token } = await tokensFor(party)
  expect(await refresh(party, token, wrong)).toMatchObject(refused(code, description))
  tokensIn(await refresh(party, token))
})

test('an access token, an id token and a code refresh nothing', async () => {
  const party = await newParty(service)
  const { access, body } = await tokensFor(party, 'openid')
  for (const token of [access, String(body.id_token), await codeFor(party, { scope: 'openid' })])
    expect(await refresh(party, token)).toMatchObject(refused('invalid_grant', 'unable to parse refresh token'))
})

test('the token of another client is refused, and stays good', async () => {
  const party = await newParty(service)
  const { refresh: token } = await tokensFor(party)
  const other = await register(party.user, { name: 'Other' })
  expect(await refresh({ ...party, app: other }, token)).toMatchObject(
    refused('invalid_grant', 'refresh token belongs to a different client'),
  )
  tokensIn(await refresh(party, token))
})

test('fewer scopes may be asked for, more may not', async () => {
  const party = await newParty(service)
  const all = await tokensFor(party, 'openid email write:user read:repository')
  const fewer = tokensIn(await refresh(party, all.refresh, { scope: 'read:user' }))
  expect(fewer.body.scope).toBeUndefined()
  expect(fewer.body.id_token).toBeUndefined()
  const client = service.client({ token: fewer.access })
  expect((await client.get('/user')).status).toBe(200)
  expect((await client.patch('/user/settings', { full_name: 'X' })).status).toBe(403)
  for (const scope of ['write:repository', 'all', 'groups', 'read:user read:admin'])
    expect((await refresh(party, fewer.refresh, { scope })).body.error).toBe('invalid_scope')
  const whole = tokensIn(await refresh(party, fewer.refresh))
  expect((await service.client({ token: whole.access }).patch('/user/settings', { full_name: 'X' })).status).toBe(200)
})

test('a restriction to public things cannot be left behind', async () => {
  const party = await newParty(service)
  const first = await tokensFor(party, 'public-only read:repository')
  expect(tokensIn(await refresh(party, first.refresh, { scope: 'read:repository' })).body.scope).toBe(
    'public-only read:repository',
  )
})

test.each([
  ['prohibited', 'prohibit_login = true'],
  ['inactive', 'is_active = false'],
  ['to change its password', 'must_change_password = true'],
])('an account that is %s refreshes nothing', async (_, state) => {
  const party = await newParty(service)
  const { refresh: token, access } = await tokensFor(party, 'openid all')
  await service.context.sql.unsafe(`update users set ${state} where name = '${party.user.name}'`)
  expect((await refresh(party, token)).body.error).toBe('invalid_grant')
  expect((await whoami(access)).status).toBe(403)
  const userinfo = await fetch(`${service.url}/login/oauth/userinfo`, {
    headers: { authorization: `bearer ${access}` },
  })
  expect(userinfo.status).toBe(403)
})

test('tokens end with their time, and what has ended is deleted', async () => {
  const party = await newParty(service)
  const first = await tokensFor(party, 'all')
  later(3601)
  const expired = await whoami(first.access)
  expect(expired.status).toBe(401)
  expect(expired.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"')
  const second = tokensIn(await refresh(party, first.refresh))
  later(730 * 3600 + 1)
  expect(await refresh(party, second.refresh)).toMatchObject(refused('invalid_grant', 'refresh token expired'))
  await codeFor(await newParty(service))
  await service.admin.client.post('/admin/cron/delete_expired_oauth_tokens')
  await service.drain()
  const [rows] = await service.context.sql<{ codes: number; tokens: number }[]>`
    select (select count(*)::int from oauth_authorizations) as codes, (select count(*)::int from oauth_access_tokens) as tokens`
  expect(rows).toEqual({ codes: 1, tokens: 0 })
})

test('a client that refreshes without end keeps twenty access tokens', async () => {
  const party = await newParty(service)
  const first = await tokensFor(party, 'all')
  let last = first
  for (let turn = 0; turn < 22; turn += 1) last = tokensIn(await refresh(party, last.refresh))
  expect((await whoami(first.access)).status).toBe(401)
  expect((await whoami(last.access)).status).toBe(200)
  const [row] = await service.context.sql<{ tokens: number }[]>`
    select count(*)::int as tokens from oauth_access_tokens
    where authorization_id = (select max(id) from oauth_authorizations)`
  expect(row?.tokens).toBe(20)
})

test('a person who signs in from many devices loses the oldest', async () => {
  const party = await newParty(service)
  const first = await tokensFor(party)
  for (let turn = 0; turn < 100; turn += 1) await codeFor(party)
  expect((await refresh(party, first.refresh)).body.error).toBe('invalid_grant')
})

test('a new secret of the application is needed at once', async () => {
  const party = await newParty(service)
  const { refresh: token, access } = await tokensFor(party, 'all')
  const option = { name: 'App', redirect_uris: [party.app.redirectUri], confidential_client: true }
  const changed = await party.user.client.patch(`/user/applications/oauth2/${party.app.id}`, option)
  expect((await refresh(party, token)).body.error).toBe('invalid_client')
  expect((await whoami(access)).status).toBe(200)
  expect((await refresh(party, token, { client_secret: changed.string('client_secret') })).status).toBe(200)
})

test('an application that is deleted takes its tokens with it', async () => {
  const party = await newParty(service)
  const { refresh: token, access } = await tokensFor(party, 'all')
  const code = await codeFor(party, { scope: 'all' })
  expect((await party.user.client.delete(`/user/applications/oauth2/${party.app.id}`)).status).toBe(204)
  expect((await whoami(access)).status).toBe(401)
  expect((await refresh(party, token)).body.error).toBe('invalid_client')
  expect((await exchange(party, code)).body.error).toBe('invalid_client')
  expect((await sendForm(service.url, '/login/oauth/userinfo', { access_token: access })).status).toBe(401)
})
