import { afterAll, beforeAll, expect } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { browsing, hasChromium, launchChromium } from '../harness/chromium.ts'
import { startTestService, type TestService } from '../harness/service.ts'

let browser: Browser
let service: TestService

beforeAll(async () => {
  if (!hasChromium) return
  service = await startTestService()
  browser = await launchChromium()
})

afterAll(async () => {
  await browser?.close()
  await service?.stop()
})

browsing('the reference lists an operation, sends it and shows the answer, and asks nobody else', async () => {
  const page = await browser.newPage()
  const seen = watch(page)
  await page.goto(`${service.url}/api/swagger`)
  expect(await page.title()).toBe('API reference - Hearth')
  const answer = await send(page, 'miscellaneous', 'getVersion')
  expect(answer).toContain('"version"')
  expect(seen.requests).toContain(`${service.url}/api/v1/version`)
  expect(seen.requests.filter((url) => !url.startsWith(`${service.url}/`) && !url.startsWith('data:'))).toEqual([])
  expect(seen.complaints).toEqual([])
  await page.close()
})

browsing('a password given to the page signs its requests in', async () => {
  const page = await browser.newPage()
  await page.goto(`${service.url}/api/swagger`)
  await page.locator('.auth-wrapper .authorize').first().click()
  const scheme = page.locator('.auth-container', { hasText: 'BasicAuth' })
  await scheme.locator('input').nth(0).fill(service.admin.name)
  await scheme.locator('input').nth(1).fill(service.admin.password)
  await scheme.locator('button.authorize').click()
  await page.locator('.auth-btn-wrapper .btn-done').first().click()
  expect(await send(page, 'user', 'userGetCurrent')).toContain(`"login": "${service.admin.name}"`)
  await page.close()
})

browsing('a token alone will do, for this tab and until it is closed', async () => {
  const page = await browser.newPage()
  await page.goto(`${service.url}/api/swagger`)
  await page.locator('.auth-wrapper .authorize').first().click()
  const scheme = page.locator('.auth-container', { hasText: 'AuthorizationHeaderToken' })
  await scheme.locator('input').first().fill(service.admin.token)
  await scheme.locator('button.authorize').click()
  await page.locator('.auth-btn-wrapper .btn-done').first().click()
  await page.reload()
  expect(await send(page, 'user', 'userGetCurrent')).toContain(`"login": "${service.admin.name}"`)
  const another = await browser.newPage()
  await another.goto(`${service.url}/api/swagger`)
  expect(await send(another, 'user', 'userGetCurrent')).toContain('token is required')
  await Promise.all([page.close(), another.close()])
})

browsing('the filter finds summaries and names of operations, and opens their groups', async () => {
  const page = await browser.newPage()
  await page.goto(`${service.url}/api/swagger`)
  const first = page.locator('.opblock-tag').first()
  expect(await first.getAttribute('data-tag')).toBe('repository')
  for (const words of ['Create an issue', 'issueCreateIssue']) {
    await page.locator('.operation-filter-input').fill(words)
    await page.locator('#operations-issue-issueCreateIssue').waitFor()
    expect(await page.locator('#operations-issue-issueGetIssue').count()).toBe(0)
  }
  await page.close()
})

/** Opens an operation, sends it as it stands, and reads what the page shows of the answer. */
async function send(page: Page, tag: string, operationId: string): Promise<string> {
  const operation = page.locator(`#operations-${tag}-${operationId}`)
  await page.locator(`#operations-tag-${tag}`).click()
  await operation.locator('.opblock-summary-control').click()
  await operation.locator('.execute').click()
  return (await operation.locator('.live-responses-table .response').textContent()) ?? ''
}

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
