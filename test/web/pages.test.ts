import { afterAll, beforeAll, expect, test } from 'bun:test'
import { TOTP } from 'otpauth'
import type { Browser, CDPSession, Page } from 'playwright-core'
import { browsing, hasChromium, launchChromium } from '../harness/chromium.ts'
import { examine, LONG_MS, signIn, watch } from '../harness/examine.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'
import { startSmtpSink } from '../harness/smtp.ts'
import { makeSshKey } from '../signatures/stage.ts'

const clock = { time: Date.now(), now: () => new Date(clock.time) }
let browser: Browser
let service: TestService
let alice: TestUser
beforeAll(async () => {
  if (!hasChromium) return
  service = await startTestService({ clock, checksContract: false })
  alice = await service.createUser('alice')
  browser = await launchChromium()
}, LONG_MS)
afterAll(async () => {
  await browser?.close()
  await service?.stop()
})

async function openSignIn(page: Page, user = alice): Promise<void> {
  await page.goto(`${service.url}/user/login`)
  await signIn(page, user)
}

/** A key that Chromium itself plays: it holds passkeys, and its owner is always there. */
async function addAuthenticator(page: Page): Promise<{ client: CDPSession; authenticatorId: string }> {
  const client = await page.context().newCDPSession(page)
  await client.send('WebAuthn.enable')
  const { authenticatorId } = await client.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return { client, authenticatorId }
}

browsing(
  'somebody signs in and out, without script',
  async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(`${service.url}/user/settings`)
    await openSignIn(page)
    expect(await page.getByRole('link', { name: 'Settings of alice' }).isVisible()).toBe(true)
    await page.goto(`${service.url}/user/login?redirect_to=/user/settings`)
    await page.getByLabel('Name', { exact: true }).fill('Alice Example')
    await page.getByRole('button', { name: 'Save' }).click()
    expect(await page.getByText('Saved.').isVisible()).toBe(true)
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Alice Example')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL(`${service.url}/`)
    expect(await page.getByRole('link', { name: 'Sign in' }).isVisible()).toBe(true)
    await context.close()
  },
  LONG_MS,
)

browsing(
  'somebody enrols a second factor, and signs in with it',
  async () => {
    const context = await browser.newContext()
    const complaints = watch(context)
    const page = await context.newPage()
    const user = await service.createUser()
    await openSignIn(page, user)
    await page.goto(`${service.url}/user/settings/security`)
    await page.getByRole('link', { name: 'Switch it on' }).click()
    const seed = (await page.locator('li code').textContent()) ?? ''
    const nextCode = () => {
      clock.time += 30_000
      return new TOTP({ secret: seed }).generate({ timestamp: clock.time })
    }
    await examine(page, 'two-factor-enrolment')
    await page.getByLabel('Code', { exact: true }).fill(nextCode())
    await page.getByRole('button', { name: 'Switch it on' }).click()
    await page.getByRole('heading', { name: 'Recovery codes' }).waitFor()
    await examine(page, 'recovery-codes')
    const [recoveryCode = ''] = ((await page.locator('pre').textContent()) ?? '').split('\n')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await openSignIn(page, user)
    await page.getByLabel('Code', { exact: true }).fill('000000')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText('This code is wrong').waitFor()
    await examine(page, 'second-factor-wrong')
    await page.getByLabel('Code', { exact: true }).fill(nextCode())
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('link', { name: `Settings of ${user.name}` }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await openSignIn(page, user)
    await page.getByLabel('Code', { exact: true }).fill(recoveryCode)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('link', { name: `Settings of ${user.name}` }).waitFor()
    await page.goto(`${service.url}/user/settings/security`)
    await examine(page, 'security-with-two-factor')
    expect(complaints).toEqual([])
    await context.close()
  },
  LONG_MS,
)

browsing(
  'somebody adds a passkey, signs in with it in place of everything else, and deletes it',
  async () => {
    const context = await browser.newContext()
    const complaints = watch(context)
    const page = await context.newPage()
    const device = await addAuthenticator(page)
    const user = await service.createUser()
    await openSignIn(page, user)
    await page.goto(`${service.url}/user/settings/security`)
    await page.getByLabel('Name').fill('Laptop <1>')
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByText('Laptop <1>').waitFor()
    await examine(page, 'security-with-passkey')
    // The device is asked to make no second one.
    await page.getByLabel('Name').fill('The same')
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByText('The browser gave no passkey').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()

    await page.goto(`${service.url}/user/login?redirect_to=/user/settings/sessions`)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.waitForURL(`${service.url}/user/settings/sessions`)
    await page.getByText('signed in with a passkey').waitFor()
    const [row] = await service.context.sql<{ signCount: number; lastUsedAt: Date | null }[]>`
      select sign_count::int as "signCount", last_used_at as "lastUsedAt" from passkeys`
    expect(row?.lastUsedAt).not.toBeNull()

    // The same answer again, as somebody who has listened would send it.
    await page.goto(`${service.url}/user/logout`)
    await page.getByRole('button', { name: 'Sign out of this browser' }).click()
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/user/login/passkey')) sent.push(request.postData() ?? '')
    })
    // The device was told the handle under another secret key.
    await page.route('**/user/login/passkey', (route) =>
      route.continue({ postData: withOtherHandle(route.request().postData() ?? '') }),
    )
    await page.goto(`${service.url}/user/login`)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByRole('link', { name: `Settings of ${user.name}` }).waitFor()
    await page.unroute('**/user/login/passkey')
    expect([sent.length, await post('/user/login/passkey', sent[0] ?? '')]).toEqual([1, 400])
    // Many devices do not count: then the challenge alone tells.
    await service.context.sql`update passkeys set sign_count = 0`
    expect(await post('/user/login/passkey', sent[0] ?? '')).toBe(400)

    await page.goto(`${service.url}/user/settings/security`)
    await page.getByRole('button', { name: 'Delete the passkey Laptop <1>' }).click()
    await page.getByText('Removed.').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.goto(`${service.url}/user/login`)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByText('This passkey is not known here').waitFor()
    await device.client.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId: device.authenticatorId })
    expect(complaints).toEqual([])
    await context.close()
  },
  LONG_MS,
)

/** The same answer of a device, with another user handle: nothing signs it. */
function withOtherHandle(form: string): string {
  const changed = decodeURIComponent(form).replace(/"userHandle":"[^"]+"/, '"userHandle":"AAAA"')
  if (!changed.includes('"AAAA"')) throw new Error(`there is no user handle: ${form}`)
  return changed
    .split('&')
    .map((field) => field.replace(/=(.*)$/s, (_, value: string) => `=${encodeURIComponent(value)}`))
    .join('&')
}

async function post(path: string, body: string): Promise<number> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }
  const answer = await fetch(`${service.url}${path}`, { method: 'POST', headers, body, redirect: 'manual' })
  return answer.status
}

browsing(
  'nothing is found on the pages for visitors',
  async () => {
    const context = await browser.newContext()
    const complaints = watch(context)
    const page = await context.newPage()
    for (const [path, name] of [
      ['/', 'home'],
      ['/user/login?redirect_to=/user/settings', 'sign-in'],
      ['/user/login?done=password', 'sign-in-new-password'],
      ['/user/sign_up', 'sign-up'],
      ['/user/forgot_password', 'forgot-password'],
      [`/user/recover_account?code=${'a'.repeat(64)}`, 'no-link'],
      [`/user/activate?code=${'a'.repeat(64)}`, 'no-activation'],
      ['/user/activate_email?code=x', 'no-confirmation'],
      ['/user/settings?token=nonsense', 'refused'],
    ] as const) {
      await page.goto(`${service.url}${path}`)
      await examine(page, name)
    }
    await page.goto(`${service.url}/user/login`)
    await page.getByLabel('User name or e-mail address').fill('alice')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText('Enter your user name').waitFor()
    await examine(page, 'sign-in-wrong')
    await page.goto(`${service.url}/user/sign_up`)
    await page.getByLabel('User name').fill('alice')
    await page.getByLabel('E-mail address').fill('alice2@example.org')
    await page.getByLabel('Password', { exact: true }).fill('correct horse battery')
    await page.getByLabel('Password again').fill('correct horse battery')
    await page.getByRole('button', { name: 'Make the account' }).click()
    await page.getByText('already exists').waitFor()
    await examine(page, 'sign-up-wrong')
    expect(complaints).toEqual([])
    await context.close()
  },
  LONG_MS,
)

browsing(
  'nothing is found on the pages that mails lead to',
  async () => {
    const sink = await startSmtpSink({ disabledCommands: ['STARTTLS', 'AUTH'] })
    const settings = {
      SMTP_URL: `smtp://127.0.0.1:${sink.port}`,
      MAIL_FROM: 'hearth@forge.example',
      CONFIRM_EMAILS: 'true',
    }
    const mailing = await startTestService({ settings, checksContract: false })
    const linkTo = async (address: string): Promise<string> => {
      await mailing.drain()
      return /http\S+code=[0-9a-f]{64}/.exec(sink.to(address).at(-1)?.text ?? '')?.[0] ?? ''
    }
    const context = await browser.newContext()
    try {
      const page = await context.newPage()
      await page.goto(`${mailing.url}/user/sign_up`)
      await page.getByLabel('User name').fill('bob')
      await page.getByLabel('E-mail address').fill('bob@example.org')
      await page.getByLabel('Password', { exact: true }).fill('correct horse battery')
      await page.getByLabel('Password again').fill('correct horse battery')
      await page.getByRole('button', { name: 'Make the account' }).click()
      await page.getByRole('heading', { name: 'One step is left' }).waitFor()
      await examine(page, 'sign-up-mailed')
      await page.goto(await linkTo('bob@example.org'))
      await examine(page, 'activation')
      await page.getByLabel('Password').fill('correct horse battery')
      await page.getByRole('button', { name: 'Make the account' }).click()
      await page.getByRole('link', { name: 'Settings of bob' }).waitFor()
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.goto(`${mailing.url}/user/forgot_password`)
      await examine(page, 'forgot-password-with-mail')
      await page.getByLabel('E-mail address').fill('bob@example.org')
      await page.getByRole('button', { name: 'Mail me a link' }).click()
      await page.getByRole('heading', { name: 'Look into your mail' }).waitFor()
      await examine(page, 'recovery-mailed')
      await page.goto(await linkTo('bob@example.org'))
      await examine(page, 'recovery')
      await page.getByLabel('New password', { exact: true }).fill('another horse battery')
      await page.getByLabel('New password again').fill('another horse battery')
      await page.getByRole('button', { name: 'Change the password' }).click()
      await page.getByText('The password is changed').waitFor()
    } finally {
      await context.close()
      await mailing.stop()
      await sink.stop()
    }
  },
  LONG_MS,
)

browsing(
  'nothing is found on the pages of the settings',
  async () => {
    const context = await browser.newContext()
    const complaints = watch(context)
    const page = await context.newPage()
    await alice.client.post('/user/keys', { title: 'Laptop', key: makeSshKey().line })
    await alice.client.post('/user/emails', {
      emails: ['a-rather-long-address-of-alice@a-rather-long-host.example.org'],
    })
    // One that is watched, and one that is ignored.
    await service.createRepository(alice, { name: 'a-rather-long-name-of-a-repository-that-somebody-chose-to-watch' })
    const quiet = await service.createRepository(alice)
    await service.context.sql`
      update watches set is_subscribed = false from repositories where id = repository_id and name = ${quiet.name}`
    await openSignIn(page)
    for (const path of [
      '',
      '/account',
      '/change_password',
      '/security',
      '/sessions',
      '/applications',
      '/keys',
      '/notifications',
    ]) {
      await page.goto(`${service.url}/user/settings${path}?done=saved`)
      await examine(page, `settings${path.replace('/', '-')}`)
    }
    await page.goto(`${service.url}/user/logout`)
    await examine(page, 'sign-out')
    await page.goto(`${service.url}/user/settings/applications`)
    await page.getByLabel('What it is for').fill('build')
    await page.getByLabel('Repositories').selectOption('write:repository')
    await page.getByRole('button', { name: 'Make the token' }).click()
    await page.getByText('The new token').waitFor()
    await examine(page, 'new-token')
    await page.goto(`${service.url}/user/settings/keys`)
    await page.getByLabel('Public key', { exact: true }).fill('nonsense')
    await page.getByRole('button', { name: 'Add the SSH key' }).click()
    await page.locator('[aria-invalid]').waitFor()
    await examine(page, 'key-wrong')
    expect(complaints).toEqual([])
    await context.close()
  },
  LONG_MS,
)

test('what is no answer of a device signs nobody in', async () => {
  const other = await startTestService({ checksContract: false })
  try {
    const send = async (credential: string) => {
      const body = new URLSearchParams({ credential })
      return (await fetch(`${other.url}/user/login/passkey`, { method: 'POST', body })).status
    }
    const response = { clientDataJSON: 'e30', authenticatorData: 'AAAA', signature: 'AAAA' }
    const credential = { id: 'AAAA', rawId: 'AAAA', type: 'public-key', clientExtensionResults: {}, response }
    for (const sent of ['', 'nonsense', '{}', '[]', '"x"', JSON.stringify(credential)])
      expect(await send(sent)).toBe(400)
  } finally {
    await other.stop()
  }
})
