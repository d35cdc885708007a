import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const APPLICATIONS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/** Chromium of the system, or the one that Playwright fetched; undefined where there is neither. */
export const chromiumPath = [...NAMES.map((name) => Bun.which(name)), ...APPLICATIONS, chromium.executablePath()]
  .map((path) => path ?? undefined)
  .find((path) => path !== undefined && existsSync(path))

/** A clone with nothing but Node, npm and git must pass: without a browser these tests are skipped, which the run says by name. */
export const hasChromium = chromiumPath !== undefined

/** How to get it: the first is for everybody, the second for root on Debian. */
export const NO_CHROMIUM =
  'Tests that drive a browser did not run: there is no Chromium. To get one: bun x playwright-core install chromium, or apt-get install chromium'
