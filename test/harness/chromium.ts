import { test } from 'bun:test'
import { type Browser, chromium } from 'playwright-core'

const executablePath = ['chromium', 'chromium-browser', 'google-chrome']
  .map((name) => Bun.which(name) ?? undefined)
  .find((path) => path !== undefined)

/** A clone with nothing but Node, npm and git must pass: without a browser these tests are skipped, which the run says by name. */
export const hasChromium = executablePath !== undefined

/** A test that drives the browser. */
export const browsing = test.skipIf(!hasChromium)

/** Root may not use Chromium's sandbox; the rest keeps the browser itself from looking for its maker. */
const ARGUMENTS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
]

/** Starts the browser without a window. @throws where there is none */
export async function launchChromium(): Promise<Browser> {
  if (executablePath === undefined) throw new Error('there is no Chromium: apt-get install chromium')
  return chromium.launch({ executablePath, args: ARGUMENTS })
}
