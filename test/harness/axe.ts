import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** What axe finds on a page as it is, with what it is about. */
export async function faultsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const found: unknown = await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ')))`,
  )
  return Array.isArray(found) ? found.map(String) : ['axe gave no answer']
}
