import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestService } from '../harness/service.ts'
import { codeFor, newcomer, newParty, refresh, register, tokensFor, tokensIn } from '../oauth/flow.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

const APPLICATIONS = '/user/settings/applications'
const OAUTH = `${APPLICATIONS}/oauth2`
const GOOD = {
  application_name: 'Wiki <b>',
  redirect_uris: 'https://wiki.example/cb\r\nhttps://wiki.example/other\r\n',
  confidential_client: 'true',
}

const secretIn = (text: string) => /gto_[a-z2-7]{52}/.exec(text)?.[0]
const idIn = (text: string) => /applications\/oauth2\/(\d+)"/.exec(text)?.[1] ?? ''

test('an application is registered, and its secret shown in this answer alone', async () => {
  const { user, visitor } = await newcomer(service)
  const made = await visitor.post(OAUTH, GOOD)
  expect(made.status).toBe(200)
  expect(made.headers.get('cache-control')).toBe('no-store')
  expect(made.headers.getSetCookie()).toEqual([])
  const secret = secretIn(made.text)
  expect(secret).toBeDefined()
  expect(made.text).toContain('Wiki &lt;b&gt;')
  const list = await user.client.get('/user/applications/oauth2')
  expect(list.body).toMatchObject([
    {
      name: 'Wiki <b>',
      redirect_uris: ['https://wiki.example/cb', 'https://wiki.example/other'],
      confidential_client: true,
      skip_secondary_authorization: false,
    },
  ])
  for (const path of [APPLICATIONS, OAUTH, `${OAUTH}/${list.number('0.id')}`]) {
    const page = await visitor.get(path)
    expect(page.text).toContain(list.string('0.client_id'))
    expect(secretIn(page.text)).toBeUndefined()
  }
})

test.each([
  ['no name', { application_name: ' ' }, 'application_name'],
  ['no address', { redirect_uris: ' \n' }, 'redirect_uris'],
  ['a script for an address', { redirect_uris: 'https://a.example\njavascript:alert(1)' }, 'redirect_uris'],
  ['too many addresses', { redirect_uris: 'https://a.example\n'.repeat(101) }, 'redirect_uris'],
])('a form with %s is shown again with what is wrong', async (_, wrong, field) => {
  const { user, visitor } = await newcomer(service)
  const { id } = await register(user)
  for (const path of [OAUTH, `${OAUTH}/${id}`]) {
    const answer = await visitor.post(path, { ...GOOD, ...wrong })
    expect(answer.status).toBe(422)
    expect(answer.text).toContain(`id="${field}-problem"`)
  }
  expect((await user.client.get('/user/applications/oauth2')).body).toMatchObject([{ name: 'App' }])
})

test('an edit keeps the secret, a new one replaces it, and who deletes it ends its tokens', async () => {
  const party = await newParty(service)
  const { visitor, app } = party
  const { access, refresh: renewal } = await tokensFor(party, 'all')
  const path = `${OAUTH}/${app.id}`
  const fields = { ...GOOD, redirect_uris: app.redirectUri }
  const saved = await visitor.post(path, fields)
  expect([saved.status, saved.location]).toEqual([303, `${path}?done=saved`])
  const next = tokensIn(await refresh(party, renewal))
  const renewed = await visitor.post(`${path}/regenerate_secret`)
  const secret = secretIn(renewed.text) ?? ''
  expect((await refresh(party, next.refresh)).body.error).toBe('invalid_client')
  tokensIn(await refresh(party, next.refresh, { client_secret: secret }))
  const gone = await visitor.post(`${path}/delete`)
  expect([gone.status, gone.location]).toEqual([303, `${APPLICATIONS}?done=removed`])
  expect((await service.client({ token: access }).get('/user')).status).toBe(401)
})

test('nobody sees or changes the application of somebody else', async () => {
  const { app, visitor } = await newParty(service)
  const other = await newcomer(service)
  const path = `${OAUTH}/${app.id}`
  expect((await other.visitor.get(path)).status).toBe(404)
  for (const place of [path, `${path}/regenerate_secret`, `${path}/delete`])
    expect((await other.visitor.post(place, GOOD)).status).toBe(404)
  expect((await visitor.get(path)).status).toBe(200)
})

test('only administrators see and may tick that nobody is asked again', async () => {
  const { visitor, user } = await newcomer(service)
  expect((await visitor.get(OAUTH)).text).not.toContain('skip_secondary_authorization')
  expect((await visitor.post(OAUTH, { ...GOOD, skip_secondary_authorization: 'true' })).status).toBe(403)
  await service.context.sql`update users set is_admin = true where name = ${user.name}`
  expect((await visitor.get(OAUTH)).text).toContain('skip_secondary_authorization')
  expect((await visitor.post(OAUTH, { ...GOOD, skip_secondary_authorization: 'true' })).status).toBe(200)
})

test('what was allowed is listed in words, and ends when it is taken back', async () => {
  const owner = await newParty(service, { name: 'Calendar' })
  const person = await newcomer(service)
  const party = { ...owner, ...person }
  const { access, refresh: renewal } = await tokensFor(party, 'openid read:repository')
  const code = await codeFor(party, { scope: 'openid' })
  const page = await person.visitor.get(APPLICATIONS)
  for (const words of ['Calendar', `@${owner.user.name}`, 'See and clone all your repositories'])
    expect(page.text).toContain(words)
  const [, action = ''] = /action="([^"]*\/revoke\/\d+)"/.exec(page.text) ?? []
  // Not by anybody else, and not by the owner of the application.
  for (const { visitor } of [owner, await newcomer(service)]) expect((await visitor.post(action)).status).toBe(404)
  expect((await person.visitor.post(action.replace(/\d+(?=\/revoke)/, '999999'))).status).toBe(404)
  expect((await service.client({ token: access }).get('/user/repos')).status).not.toBe(401)
  const revoked = await person.visitor.post(action)
  expect([revoked.status, revoked.location]).toEqual([303, `${APPLICATIONS}?done=removed`])
  expect((await service.client({ token: access }).get('/user/repos')).status).toBe(401)
  expect((await refresh(party, renewal)).body).toEqual({
    error: 'invalid_grant',
    error_description: 'grant does not exist',
  })
  expect(code).toStartWith('gta_')
  const trail = await service.admin.client.get('/admin/audit', { limit: 50 })
  for (const kind of ['oauth_grant.allow', 'oauth_grant.revoke']) expect(trail.text).toContain(kind)
})

test('ten thousand of them come in pages', async () => {
  const { user, visitor } = await newcomer(service)
  await service.context.sql`
    with made as (
      insert into oauth_applications (owner_id, client_id, name, secret_hash, is_confidential, redirect_uris)
      select id, 'many-' || n, 'Many ' || n, 'x', true, '{https://a.example}' from users, generate_series(1, 10000) n
      where name = ${service.admin.name} returning id)
    insert into oauth_grants (user_id, application_id, scopes)
    select users.id, made.id, '{openid}' from users, made where users.name = ${user.name}`
  const first = await visitor.get(APPLICATIONS)
  expect(first.text).toContain('All 10000')
  expect(first.text.length).toBeLessThan(30_000)
  const rows = ({ text }: { text: string }) => [...text.matchAll(/Take back</g)].length
  const start = await visitor.get(`${APPLICATIONS}/grants`)
  const [, pages = ''] = /Page 1 of (\d+)/.exec(start.text) ?? []
  const last = await visitor.get(`${APPLICATIONS}/grants?page=${pages}`)
  expect(last.text).toContain(`Page ${pages} of ${pages}`)
  expect(rows(start) * (Number(pages) - 1) + rows(last)).toBe(10_000)
  await service.context.sql`delete from oauth_applications where client_id like 'many-%'`
})

test('a page without anything says so', async () => {
  const { visitor } = await newcomer(service)
  expect((await visitor.get(APPLICATIONS)).text).toContain('You have not allowed any application')
  expect(idIn((await visitor.get(OAUTH)).text)).toBe('')
})
