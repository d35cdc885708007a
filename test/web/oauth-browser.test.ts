import { afterAll, beforeAll, expect } from 'bun:test'
import { createServer, type Server } from 'node:http'
import * as openid from 'openid-client'
import type { Browser } from 'playwright-core'
import { browsing, hasChromium, launchChromium } from '../harness/chromium.ts'
import { examine, LONG_MS, signIn, watch } from '../harness/examine.ts'
import { listen } from '../harness/listen.ts'
import { startTestService, type TestService } from '../harness/service.ts'
import { register, sendForm } from '../oauth/flow.ts'

let service: TestService
let browser: Browser
let server: Server
/** Of the application: another site than the service, which listens on localhost. */
let home: string
beforeAll(async () => {
  if (!hasChromium) return
  service = await startTestService({ checksContract: false, settings: { OAUTH2_DEVICE_FLOW: 'true' } })
  browser = await launchChromium()
  ;({ server, home } = await startApplication())
}, LONG_MS)
afterAll(async () => {
  await browser?.close()
  server?.close()
  await service?.stop()
})

/** A real application: `/` signs somebody in, `/cb` says who it was. */
async function startApplication() {
  const server = createServer((message, reply) => {
    answer(new URL(message.url ?? '/', home)).then(
      ({ location, text }) => {
        reply.writeHead(location === undefined ? 200 : 302, location === undefined ? {} : { location })
        reply.end(text)
      },
      (error: unknown) => reply.end(String(error)),
    )
  })
  const home = `http://127.0.0.1:${await listen(server)}`
  const owner = await service.createUser()
  const app = await register(owner, { name: 'Calendar', redirect_uris: [`${home}/cb`] })
  const config = await openid.discovery(new URL(service.url), app.clientId, app.secret, undefined, {
    execute: [openid.allowInsecureRequests],
  })
  const verifier = openid.randomPKCECodeVerifier()
  const challenge = await openid.calculatePKCECodeChallenge(verifier)
  async function answer(url: URL): Promise<{ location?: string; text: string }> {
    if (url.pathname === '/') {
      const asked = { redirect_uri: `${home}/cb`, scope: 'openid profile write:repository', state: 's' }
      const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
      return { location: openid.buildAuthorizationUrl(config, { ...asked, ...pkce }).href, text: '' }
    }
    if (url.searchParams.has('error')) return { text: `Refused: ${url.searchParams.get('error')}` }
    const tokens = await openid.authorizationCodeGrant(config, url, { pkceCodeVerifier: verifier, expectedState: 's' })
    return { text: `Hello ${tokens.claims()?.preferred_username}` }
  }
  return { server, home }
}

/** Of `tea`, which asks for what it always asks. */
async function newDeviceCode(): Promise<string> {
  const client_id = 'd57cb8c4-630c-4168-8324-ec79935e18d4'
  const scope = 'admin,user,issue,misc,notification,organization,package,repository'
  const { body } = await sendForm(service.url, '/login/oauth/device_authorization', { client_id, scope })
  return String(body.user_code)
}

browsing(
  'somebody signs in to an application, without script, and is not asked the second time',
  async () => {
    const user = await service.createUser()
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(home)
    await signIn(page, user)
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Allow Calendar?')
    await page.getByRole('button', { name: 'Do not allow' }).click()
    await page.waitForURL(`${home}/**`)
    expect(await page.textContent('body')).toBe('Refused: access_denied')
    await page.goto(home)
    await page.getByRole('button', { name: 'Allow', exact: true }).click()
    await page.waitForURL(`${home}/**`)
    expect(await page.textContent('body')).toBe(`Hello ${user.name}`)
    // Straight from the form of the sign-in to the other site: the policy of that page lets it.
    await context.clearCookies()
    await page.goto(home)
    await signIn(page, user)
    await page.waitForURL(`${home}/**`)
    expect(await page.textContent('body')).toBe(`Hello ${user.name}`)
    await context.close()
  },
  LONG_MS,
)

browsing(
  'the pages have nothing that axe finds, in both schemes and at both widths',
  async () => {
    const user = await service.createUser()
    const context = await browser.newContext()
    const page = await context.newPage()
    const complaints = watch(context)
    await page.goto(home)
    await signIn(page, user)
    await page.waitForURL('**/login/oauth/authorize**')
    await examine(page, 'oauth-consent')
    const full = page.url().replace(/scope=[^&]*/, 'scope=all')
    await page.goto(full)
    await examine(page, 'oauth-consent-full')
    await page.getByRole('button', { name: 'Allow', exact: true }).click()
    await page.waitForURL(`${home}/**`)
    await page.goto(`${service.url}/login/oauth/authorize?client_id=nope`)
    await examine(page, 'oauth-refused')
    await page.goto(`${service.url}/login/oauth/logout`)
    await examine(page, 'oauth-sign-out')
    await page.goto(`${service.url}/user/settings/applications`)
    expect(await page.getByText('Calendar').first().isVisible()).toBe(true)
    await examine(page, 'oauth-applications')
    await page.getByRole('link', { name: 'Register an application' }).click()
    await examine(page, 'oauth-register')
    await page.getByLabel('Name', { exact: true }).fill('Mine')
    await page.getByRole('button', { name: 'Register' }).click()
    await examine(page, 'oauth-register-wrong')
    await page.getByLabel('Redirect URIs').fill('https://mine.example/cb')
    await page.getByRole('button', { name: 'Register' }).click()
    expect(await page.getByText('shown this once').isVisible()).toBe(true)
    await examine(page, 'oauth-registered')
    await page.goto(`${service.url}/login/device`)
    await page.getByLabel('Code on the device').fill('BBBB-BBBB')
    await page.getByRole('button', { name: 'Go on' }).click()
    await examine(page, 'oauth-device-wrong')
    await page.getByLabel('Code on the device').fill(await newDeviceCode())
    await page.getByRole('button', { name: 'Go on' }).click()
    await examine(page, 'oauth-device')
    await page.getByRole('button', { name: 'Allow', exact: true }).click()
    await page.getByRole('heading', { name: 'The device is allowed' }).waitFor()
    await page.goto(`${service.url}/user/settings/applications`)
    await page.getByRole('button', { name: 'Take back what Calendar may do' }).click()
    expect(await page.getByRole('button', { name: 'Take back what Calendar may do' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Take back what tea may do' }).count()).toBe(1)
    expect(complaints).toEqual([])
    await context.close()
  },
  LONG_MS,
)
