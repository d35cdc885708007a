import { afterAll, beforeAll, expect, test } from 'bun:test'
import * as openid from 'openid-client'
import { startTestService, type TestService } from '../harness/service.ts'
import { askToken, consentFields, newcomer, newParty, type Party, sendForm, tokensIn } from './flow.ts'

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code'
let service: TestService
let now = new Date()
beforeAll(async () => {
  service = await startTestService({ clock: { now: () => now }, settings: { OAUTH2_DEVICE_FLOW: 'true' } })
})
afterAll(() => service.stop())

const later = (seconds: number) => {
  now = new Date(now.getTime() + seconds * 1000)
}

async function begin({ service: { url }, app }: Party, scope = 'openid all') {
  const client = { client_id: app.clientId, client_secret: app.secret }
  const { status, body } = await sendForm(url, '/login/oauth/device_authorization', { ...client, scope })
  expect(status).toBe(200)
  return { device: String(body.device_code), code: String(body.user_code), body }
}
const poll = (party: Party, device_code: string) => askToken(party, { grant_type: GRANT, device_code })

/** What the person does: types the code, looks, answers. */
async function answer({ visitor }: Pick<Party, 'visitor'>, user_code: string, granted = 'true') {
  const page = await visitor.post('/login/device', { user_code })
  return visitor.post('/login/device/grant', { ...consentFields(page), granted })
}

test('a device is allowed by its code, and gets tokens once', async () => {
  const party = await newParty(service)
  const { device, code, body } = await begin(party)
  expect(body).toEqual({
    device_code: expect.stringMatching(/^gtd_[a-z2-7]{52}$/),
    user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
    verification_uri: `${service.url}/login/device`,
    verification_uri_complete: `${service.url}/login/device?user_code=${code}`,
    expires_in: 600,
    interval: 5,
  })
  expect((await poll(party, device)).body.error).toBe('authorization_pending')
  expect((await party.visitor.get(`/login/device?user_code=${code}`)).text).toContain(`value="${code}"`)
  const page = await party.visitor.post('/login/device', { user_code: code.toLowerCase().replace('-', ' ') })
  for (const words of ['App', code, party.user.name, 'full access']) expect(page.text).toContain(words)
  expect((await answer(party, code)).text).toContain('The device is allowed')
  later(5)
  const replies = await Promise.all([1, 2, 3].map(() => poll(party, device)))
  const won = replies.filter(({ status }) => status === 200)
  expect(won.length).toBe(1)
  const { access, body: got } = tokensIn(won[0] ?? { status: 0, headers: new Headers(), body: {} })
  expect(got.id_token).toBeDefined()
  expect((await service.client({ token: access }).get('/user')).string('login')).toBe(party.user.name)
  later(60)
  expect((await poll(party, device)).body.error).toBe('invalid_grant')
})

test('no is told to the device', async () => {
  const party = await newParty(service)
  const { device, code } = await begin(party)
  expect((await answer(party, code, 'false')).text).toContain('The device is not allowed')
  expect((await poll(party, device)).body.error).toBe('access_denied')
  // It is answered once.
  expect((await answer(party, code)).status).toBe(422)
})

test('a device that asks too often is slowed down', async () => {
  const party = await newParty(service)
  const { device } = await begin(party)
  expect((await poll(party, device)).body.error).toBe('authorization_pending')
  expect((await poll(party, device)).body.error).toBe('slow_down')
  later(5)
  expect((await poll(party, device)).body.error).toBe('authorization_pending')
  later(5)
  expect((await poll(party, device)).body.error).toBe('slow_down')
  later(10)
  expect((await poll(party, device)).body.error).toBe('authorization_pending')
})

test('codes last ten minutes, and belong to one client', async () => {
  const party = await newParty(service)
  const { device, code } = await begin(party)
  const other = await newParty(service)
  expect((await poll(other, device)).body.error).toBe('invalid_grant')
  expect((await poll(party, 'gtd_unknown')).body.error).toBe('invalid_grant')
  expect((await askToken(party, { grant_type: GRANT })).body.error).toBe('invalid_request')
  later(601)
  expect((await poll(party, device)).body.error).toBe('expired_token')
  expect((await answer(party, code)).status).toBe(422)
})

test('who tries codes is stopped soon, and others are not', async () => {
  const party = await newParty(service)
  const { code } = await begin(party)
  const guesser = await newcomer(service)
  let status = 0
  for (let turn = 0; turn < 21; turn += 1)
    ({ status } = await guesser.visitor.post('/login/device', { user_code: 'BBBB-BBBB' }))
  expect(status).toBe(429)
  expect((await guesser.visitor.post('/login/device', { user_code: code })).status).toBe(429)
  expect((await answer(party, code)).status).toBe(200)
})

test('the page is for who is signed in, and its forms come from here', async () => {
  const { visitor } = await newParty(service)
  for (const path of ['/login/device', '/login/device/grant'])
    expect((await visitor.post(path, { granted: 'true' }, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  visitor.cookies.clear()
  expect((await visitor.get('/login/device?user_code=X')).location).toContain(
    encodeURIComponent('/login/device?user_code=X'),
  )
})

test('an account that may not sign in gets nothing, and the device may ask again', async () => {
  const party = await newParty(service)
  const { device, code } = await begin(party)
  await answer(party, code)
  await service.context.sql`update users set prohibit_login = true where name = ${party.user.name}`
  expect((await poll(party, device)).body.error).toBe('invalid_grant')
})

test('openid-client runs the whole flow', async () => {
  const party = await newParty(service)
  const { app } = party
  const config = await openid.discovery(new URL(service.url), app.clientId, app.secret, undefined, {
    execute: [openid.allowInsecureRequests],
  })
  const begun = await openid.initiateDeviceAuthorization(config, { scope: 'openid profile' })
  await answer(party, begun.user_code)
  later(10)
  const tokens = await openid.pollDeviceAuthorizationGrant(config, { ...begun, interval: 1 })
  expect(tokens.claims()?.preferred_username).toBe(party.user.name)
})

test('where it is off there is nothing of it', async () => {
  const off = await startTestService()
  try {
    const party = await newParty(off)
    const { clientId: client_id, secret: client_secret } = party.app
    expect((await sendForm(off.url, '/login/oauth/device_authorization', { client_id, client_secret })).status).toBe(
      403,
    )
    expect((await poll(party, 'gtd_x')).body.error).toBe('unsupported_grant_type')
    expect((await party.visitor.get('/login/device')).status).toBe(404)
    const metadata = await (await fetch(`${off.url}/.well-known/openid-configuration`)).text()
    expect(metadata).not.toContain('device')
  } finally {
    await off.stop()
  }
})

test('of devices that one network begins at once no more are taken than an hour allows', async () => {
  later(3600)
  const { app } = await newParty(service)
  const client = { client_id: app.clientId, client_secret: app.secret }
  const ask = async () => (await sendForm(service.url, '/login/oauth/device_authorization', client)).status
  const statuses = await Promise.all(Array.from({ length: 110 }, ask))
  expect(statuses.filter((status) => status === 200)).toHaveLength(100)
  expect(statuses.filter((status) => status === 429)).toHaveLength(10)
  later(3600)
  expect(await ask()).toBe(200)
})
