import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'
import { describeApi } from '../../src/http/openapi.ts'
import { referenceRoutes } from '../../src/http/reference.ts'
import { toy } from './toy.ts'

/** Debian's package; `.ci/run` installs it. Its absence is a failure, not a skip: the page would go untested. */
const executablePath = '/usr/bin/chromium'

let browser: Browser
let stop: () => void
let origin: string

beforeAll(async () => {
  if (!existsSync(executablePath)) throw new Error(`no Chromium at ${executablePath}: apt-get install chromium`)
  const app = toy()
  app.use(referenceRoutes(() => describeApi(app, { ...about })))
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: app.fetch })
  origin = `http://127.0.0.1:${server.port}`
  stop = () => server.stop(true)
  browser = await chromium.launch({ executablePath, args: quiet })
})

afterAll(async () => {
  await browser?.close()
  stop?.()
})

const about = { title: 'Toy', version: '1.2.3', baseUrl: 'http://localhost' }

/** Root may not use Chromium's sandbox; the rest keeps the browser itself from looking for its maker. */
const quiet = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
]

test('the reference lists an operation, sends it and shows the answer, and asks nobody else', async () => {
  const page = await browser.newPage()
  const seen = watch(page)
  await page.goto(`${origin}/api/swagger`)
  expect(await page.title()).toBe('API reference - Hearth')
  await page.locator('#operations-tag-miscellaneous').click()
  await page.locator('#operations-miscellaneous-getVersion .opblock-summary-control').click()
  await page.locator('#operations-miscellaneous-getVersion .execute').click()
  const answer = page.locator('#operations-miscellaneous-getVersion .live-responses-table .response')
  await answer.waitFor()
  expect(await answer.textContent()).toContain('"version": "1"')
  expect(seen.requests.some((url) => url === `${origin}/api/v1/version`)).toBe(true)
  expect(seen.requests.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith('data:'))).toEqual([])
  expect(seen.complaints).toEqual([])
}, 60_000)

/** Every address asked for, and everything the browser complained about: refused by the policy, failed, thrown. */
function watch(page: Page): { requests: string[]; complaints: string[] } {
  const requests: string[] = []
  const complaints: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  return { requests, complaints }
}
