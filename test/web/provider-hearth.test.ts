import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startService } from '../../src/service.ts'
import { createVisitor } from '../harness/browser.ts'
import { LONG_MS } from '../harness/examine.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'
import { consent, isConsentPage, register } from '../oauth/flow.ts'
import { addTestSource, whoIs } from './provider-stage.ts'

/** Where people have their accounts, and where they sign in with them. */
let home: TestService
let guest: TestService
let alice: TestUser
beforeAll(async () => {
  home = await startTestService({ checksContract: false })
  guest = await startTestService({ checksContract: false, settings: { AUTH_SOURCE_ALLOWED_HOSTS: 'localhost' } })
  alice = await home.createUser('alice')
  const redirect_uris = [`${guest.url}/user/oauth2/home/callback`]
  const app = await register(alice, { name: 'Guest', redirect_uris })
  const source = { issuer: home.url, clientId: app.clientId, secret: app.secret }
  await addTestSource(guest, source, { name: 'home', label: 'Home', groupClaim: 'groups' })
}, LONG_MS)
afterAll(async () => {
  await Promise.all([home?.stop(), guest?.stop()])
})

test(
  'one Hearth signs people in to another, whose replicas share the flow',
  async () => {
    const replica = await startService(
      { ...guest.context.config, publicUrl: guest.url },
      { worksJobs: false, hashCost: { memoryCost: 64, timeCost: 1 } },
    )
    try {
      const there = createVisitor(home.url)
      await there.signIn(alice)
      const here = createVisitor(guest.url)
      const begun = await here.get('/user/oauth2/home?redirect_to=/user/settings')
      const page = await there.get(begun.location)
      const back = new URL((isConsentPage(page) ? await consent(there, page) : page).location)
      expect([back.origin, back.searchParams.get('iss')]).toEqual([new URL(guest.url).origin, home.url])
      const atReplica = createVisitor(replica.url)
      for (const [name, value] of here.cookies) atReplica.cookies.set(name, value)
      const answer = await atReplica.get(`${back.pathname}${back.search}`)
      // The address of a test account was confirmed by an administrator.
      expect([answer.status, answer.location]).toEqual([303, '/user/settings'])
      here.cookies.set('hearth_session', atReplica.cookie('hearth_session') ?? '')
      expect(await whoIs(here)).toBe('alice')
    } finally {
      await replica.stop()
    }
  },
  LONG_MS,
)
