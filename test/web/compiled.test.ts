import { expect, test } from 'bun:test'
import { createVisitor } from '../harness/browser.ts'
import { startShipped } from '../harness/shipped.ts'

/** The first start compiles the program. */
const LONG_MS = 240_000

test(
  'the compiled program has its pages, their files, and what reads passkeys',
  async () => {
    const shipped = await startShipped()
    try {
      const browser = createVisitor(shipped.url)
      await browser.signIn(shipped.admin)
      const page = await browser.get('/user/settings/security')
      for (const pattern of [/stylesheet" href="([^"]+)"/, /<script defer src="([^"]+)"/]) {
        const [, path = ''] = pattern.exec(page.text) ?? []
        expect([path, (await browser.get(path)).status]).toEqual([path, 200])
      }
      // The answer of the library, not the page of a fault: it is loaded only now.
      const response = { clientDataJSON: 'e30', attestationObject: 'AAAA' }
      const made = { id: 'AAAA', rawId: 'AAAA', type: 'public-key', clientExtensionResults: {}, response }
      const answer = await browser.post('/user/settings/security/passkeys', {
        name: 'Laptop',
        credential: JSON.stringify(made),
      })
      expect([answer.status, answer.text.includes('The passkey was not taken')]).toEqual([400, true])
    } finally {
      await shipped.stop()
    }
  },
  LONG_MS,
)
