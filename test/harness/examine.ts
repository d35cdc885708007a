import { expect } from 'bun:test'
import { mkdirSync } from 'node:fs'
import axe from 'axe-core'
import type { BrowserContext, Page } from 'playwright-core'

/** A folder for pictures of all pages, for whoever wants to look at them. */
const SHOTS = process.env.PAGE_SHOTS

/** For tests that drive Chromium, on a busy machine. */
export const LONG_MS = 120_000

/** Fills the form of the sign-in that the page shows. */
export async function signIn(page: Page, user: { name: string; password: string }): Promise<void> {
  await page.getByLabel('User name or e-mail address').fill(user.name)
  await page.getByLabel('Password', { exact: true }).fill(user.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/**
 * Expects of the page, in both schemes and at both widths, that axe finds nothing and that nothing has to be scrolled sideways.
 * @param name names the page in a failure, and its picture
 */
export async function examine(page: Page, name: string): Promise<void> {
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
    await page.screenshot({ path: `${SHOTS}/${name}-${width}.png`, fullPage: true })
  }
}

/** What axe finds on the page as it is, with what it is about. */
async function faultsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const found: unknown = await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ')))`,
  )
  return Array.isArray(found) ? found.map(String) : ['axe gave no answer']
}

/** What pages complain of by themselves from now on, such as something that their policy forbids. */
export function watch(context: BrowserContext): string[] {
  const complaints: string[] = []
  context.on('console', (message) => {
    if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) complaints.push(message.text())
  })
  return complaints
}
