import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createVisitor, type PageAnswer } from '../harness/browser.ts'
import { startTestService, type TestService } from '../harness/service.ts'
import { consentFields, newcomer, newParty, REDIRECT, register, tokensFor } from './flow.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

const path = (fields: Record<string, string>) => `/login/oauth/logout?${new URLSearchParams(fields)}`
const leads = ({ status, location }: PageAnswer) => [status, location]

test('an application with an id token signs its person out, and gets them back', async () => {
  const party = await newParty(service)
  const { visitor } = party
  const { body } = await tokensFor(party, 'openid')
  const asked = { id_token_hint: String(body.id_token), post_logout_redirect_uri: REDIRECT, state: 's 1' }
  expect(leads(await visitor.get(path(asked)))).toEqual([303, `${REDIRECT}?state=s+1`])
  expect(visitor.cookie('hearth_session')).toBeUndefined()
  expect((await visitor.get('/user/settings')).location).toStartWith('/user/login')
  // Once more, without a session.
  expect(leads(await visitor.get(path(asked)))).toEqual([303, `${REDIRECT}?state=s+1`])
})

test('without one, or with that of somebody else, the person is asked', async () => {
  const party = await newParty(service)
  const { visitor, app } = party
  const other = await newcomer(service)
  const foreign = String((await tokensFor({ ...party, ...other }, 'openid')).body.id_token)
  const hints: Record<string, string>[] = [
    {},
    ...[foreign, 'a.b.c', 'nonsense'].map((id_token_hint) => ({ id_token_hint })),
  ]
  for (const hint of hints) {
    const page = await visitor.get(path({ ...hint, client_id: app.clientId, post_logout_redirect_uri: REDIRECT }))
    expect(page.status).toBe(200)
    expect(page.text).toContain('asks you to sign out')
    expect((await visitor.get('/user/settings')).status).toBe(200)
  }
  const page = await visitor.get(path({ client_id: app.clientId, post_logout_redirect_uri: REDIRECT, state: '<x>' }))
  const fields = consentFields(page)
  expect((await visitor.post('/login/oauth/logout', fields, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  expect(leads(await visitor.post('/login/oauth/logout', fields))).toEqual([303, `${REDIRECT}?state=%3Cx%3E`])
  expect((await visitor.get('/user/settings')).status).toBe(303)
})

test('nobody is sent to what is not registered, nor signed out then', async () => {
  const party = await newParty(service)
  const { visitor, app, user } = party
  const hint = String((await tokensFor(party, 'openid')).body.id_token)
  const elsewhere = await register(user, { redirect_uris: ['https://other.example/cb'] })
  const requests: Record<string, string>[] = [
    { id_token_hint: hint, post_logout_redirect_uri: 'https://evil.example/' },
    { id_token_hint: hint, post_logout_redirect_uri: `${REDIRECT}/` },
    { id_token_hint: hint, client_id: elsewhere.clientId },
    { client_id: elsewhere.clientId, post_logout_redirect_uri: REDIRECT },
    { client_id: 'nope' },
    { post_logout_redirect_uri: REDIRECT },
  ]
  for (const wrong of requests) {
    for (const asked of [visitor, createVisitor(service.url)]) {
      const answer = await asked.get(path(wrong))
      expect(leads(answer)).toEqual([400, ''])
    }
  }
  expect((await visitor.get(`${path({ client_id: app.clientId })}&client_id=${app.clientId}`)).status).toBe(400)
  expect((await visitor.get('/user/settings')).status).toBe(200)
})

test('with nowhere to go it is the first page', async () => {
  expect(leads(await createVisitor(service.url).get(path({})))).toEqual([303, '/'])
})
