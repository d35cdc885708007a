import { afterAll, beforeAll, expect } from 'bun:test'
import type { Browser } from 'playwright-core'
import { browsing, hasChromium, launchChromium } from '../harness/chromium.ts'
import { examine, LONG_MS, signIn, watch } from '../harness/examine.ts'
import { startOpenIdProvider, type TestProvider } from '../harness/openid-provider.ts'
import { startTestService, type TestService } from '../harness/service.ts'
import { addTestSource } from './provider-stage.ts'

let service: TestService
let provider: TestProvider
let browser: Browser
beforeAll(async () => {
  if (!hasChromium) return
  // Another site than the service, which listens on localhost.
  provider = await startOpenIdProvider()
  service = await startTestService({ checksContract: false, settings: { AUTH_SOURCE_ALLOWED_HOSTS: 'loopback' } })
  await addTestSource(service, provider, { label: 'Home' })
  browser = await launchChromium()
}, LONG_MS)
afterAll(async () => {
  await browser?.close()
  await service?.stop()
  provider?.stop()
})

browsing(
  'somebody signs in by another provider, connects and disconnects; axe finds nothing',
  async () => {
    const context = await browser.newContext({ javaScriptEnabled: true })
    const complaints = watch(context)
    const page = await context.newPage()
    const bob = await service.createUser('bob')
    provider.person = { sub: '1', preferred_username: 'bob' }
    await page.goto(`${service.url}/user/login?redirect_to=/user/settings/sessions`)
    await examine(page, 'sign-in-with-provider')
    await page.getByRole('link', { name: 'Sign in with Home' }).click()
    await page.getByRole('heading', { name: 'Which account is yours?' }).waitFor()
    await examine(page, 'provider-newcomer')
    await page.getByLabel('E-mail address').fill('bob@example.org')
    await page.getByRole('button', { name: 'Make the account' }).click()
    await page.getByText('already exists').waitFor()
    await examine(page, 'provider-newcomer-wrong')
    await page.getByRole('link', { name: 'Sign in to my account' }).click()
    await signIn(page, bob)
    await page.getByRole('button', { name: 'Connect with bob' }).waitFor()
    await examine(page, 'provider-connect')
    await page.getByRole('button', { name: 'Connect with bob' }).click()
    await page.waitForURL(`${service.url}/user/settings/sessions`)
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await page.goto(`${service.url}/user/login?redirect_to=/user/settings/sessions`)
    await page.getByRole('link', { name: 'Sign in with Home' }).click()
    await page.waitForURL(`${service.url}/user/settings/sessions`)
    await page.getByText('signed in with another provider').waitFor()
    await page.goto(`${service.url}/user/settings/security`)
    await examine(page, 'security-with-provider')
    await page.getByRole('button', { name: 'Disconnect Home' }).click()
    await page.getByText('Disconnected.').waitFor()
    await page.getByRole('link', { name: 'Connect with Home' }).click()
    await page.getByRole('button', { name: 'Connect with bob' }).click()
    await page.getByText('The two accounts are connected.').waitFor()
    await page.goto(`${service.url}/user/oauth2/corp/callback?code=x&state=y`)
    await examine(page, 'provider-refused')
    await page.goto(`${service.url}/user/link_account`)
    await examine(page, 'provider-nobody-waits')
    expect(complaints).toEqual([])
    await context.close()
  },
  LONG_MS,
)
