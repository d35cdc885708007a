import { afterAll, beforeAll, expect } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import * as openid from 'openid-client'
import type { Browser, Page } from 'playwright-core'
import { faultsOf } from '../harness/axe.ts'
import { browsing, hasChromium, launchChromium } from '../harness/chromium.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'
import { register, sendForm } from '../oauth/flow.ts'

/** A folder for pictures of the pages, for whoever wants to look at them. */
const SHOTS = process.env.PAGE_SHOTS
/** Chromium on a busy machine. */
const LONG_MS = 120_000

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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the application has no port')
  const home = `http://127.0.0.1:${address.port}`
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

async function signIn(page: Page, user: TestUser): Promise<void> {
  await page.getByLabel('User name or e-mail address').fill(user.name)
  await page.getByLabel('Password', { exact: true }).fill(user.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** Of `tea`, which asks for what it always asks. */
async function newDeviceCode(): Promise<string> {
  const client_id = 'd57cb8c4-630c-4168-8324-ec79935e18d4'
  const scope = 'admin,user,issue,misc,notification,organization,package,repository'
  const { body } = await sendForm(service.url, '/login/oauth/device_authorization', { client_id, scope })
  return String(body.user_code)
}

let shots = 0
async function examine(page: Page, name: string): Promise<void> {
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 900 })
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect([name, width, colorScheme, await faultsOf(page)]).toEqual([name, width, colorScheme, []])
    }
    const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
    expect([name, width, overflow]).toEqual([name, width, 0])
    await page.emulateMedia({ colorScheme: 'light' })
    if (SHOTS === undefined) continue
    mkdirSync(SHOTS, { recursive: true })
    shots += 1
    await page.screenshot({ path: `${SHOTS}/oauth-${shots}-${name}-${width}.png`, fullPage: true })
  }
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
    const complaints: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) complaints.push(message.text())
    })
    await page.goto(home)
    await signIn(page, user)
    await page.waitForURL('**/login/oauth/authorize**')
    await examine(page, 'consent')
    const full = page.url().replace(/scope=[^&]*/, 'scope=all')
    await page.goto(full)
    await examine(page, 'consent-full')
    await page.getByRole('button', { name: 'Allow', exact: true }).click()
    await page.waitForURL(`${home}/**`)
    await page.goto(`${service.url}/login/oauth/authorize?client_id=nope`)
    await examine(page, 'refused')
    await page.goto(`${service.url}/login/oauth/logout`)
    await examine(page, 'sign-out')
    await page.goto(`${service.url}/user/settings/applications`)
    expect(await page.getByText('Calendar').first().isVisible()).toBe(true)
    await examine(page, 'applications')
    await page.getByRole('link', { name: 'Register an application' }).click()
    await examine(page, 'register')
    await page.getByLabel('Name', { exact: true }).fill('Mine')
    await page.getByRole('button', { name: 'Register' }).click()
    await examine(page, 'register-wrong')
    await page.getByLabel('Redirect URIs').fill('https://mine.example/cb')
    await page.getByRole('button', { name: 'Register' }).click()
    expect(await page.getByText('shown this once').isVisible()).toBe(true)
    await examine(page, 'registered')
    await page.goto(`${service.url}/login/device`)
    await page.getByLabel('Code on the device').fill('BBBB-BBBB')
    await page.getByRole('button', { name: 'Go on' }).click()
    await examine(page, 'device-wrong')
    await page.getByLabel('Code on the device').fill(await newDeviceCode())
    await page.getByRole('button', { name: 'Go on' }).click()
    await examine(page, 'device')
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
