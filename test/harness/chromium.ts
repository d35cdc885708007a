import { test } from 'bun:test'
import { type Browser, chromium } from 'playwright-core'
import { chromiumPath, hasChromium, NO_CHROMIUM } from './find-chromium.ts'

export { hasChromium }

/** A test that drives the browser. */
export const browsing = test.skipIf(!hasChromium)

/** Root may not use Chromium's sandbox; the rest keeps the browser itself from looking for its maker. */
const ARGUMENTS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
]

/** Starts the browser without a window. @throws where there is none */
export async function launchChromium(): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error(NO_CHROMIUM)
  return chromium.launch({ executablePath: chromiumPath, args: ARGUMENTS })
}
