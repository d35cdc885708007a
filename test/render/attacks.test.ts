import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import type { Mode } from '../../src/render/context.ts'
import { ELEMENTS } from '../../src/render/html/allowed.ts'
import type { Markup } from '../../src/render/markup/by-extension.ts'
import { browsing, hasChromium, launchChromium } from '../harness/chromium.ts'
import { ATTACKS } from './attacks.ts'
import { faultsOf } from './faults.ts'
import { BASE, render } from './support.ts'

let browser: Browser
let page: Page
const requests: string[] = []

beforeAll(async () => {
  if (!hasChromium) return
  browser = await launchChromium()
  page = await browser.newPage()
  // Nothing reaches the network: every request is noted and answered here.
  await page.route('**/*', (route) => {
    requests.push(route.request().url())
    const isPage = route.request().url() === `${BASE}/page`
    return route.fulfill(isPage ? { contentType: 'text/html', body: '<!doctype html><body></body>' } : { status: 404 })
  })
  await page.goto(`${BASE}/page`)
})
afterAll(async () => {
  await browser?.close()
})

interface Verdict {
  hits: number
  /** Elements, attributes and addresses that should not be there, and traces of content outside of its frame. */
  faults: string[]
}

/** Puts HTML into a page as a forge would, acts like a reader on all of it, and looks at what the browser made of it. */
async function judge(html: string): Promise<Verdict> {
  return await page.evaluate(
    async ({ html, elements }) => {
      let hits = 0
      Object.assign(window, { hit: () => hits++, alert: () => hits++ })
      document.body.innerHTML = `<ul><li><div id="box">${html}</div></li></ul><p id="after"></p>`
      // The parser of a whole document reads some things otherwise than innerHTML does.
      const whole = new DOMParser().parseFromString(`<!doctype html><body><div id="box">${html}</div>`, 'text/html')
      const faults: string[] = []
      for (const element of [...document.querySelectorAll('#box *'), ...whole.querySelectorAll('#box *')]) {
        const name = element.localName
        if (!elements.includes(name)) faults.push(`element ${name}`)
        for (const attribute of element.getAttributeNames())
          if (
            /^on|^srcdoc$|^formaction$|^name$|^target$/.test(attribute) &&
            element.getAttribute(attribute) !== '_blank'
          )
            faults.push(`attribute ${attribute}`)
        const url = element.getAttribute('href') ?? element.getAttribute('src')
        const link = Object.assign(document.createElement('a'), { href: url ?? '' })
        // A bare colon is the protocol of an address that the browser cannot read.
        if (url !== null && ![':', 'https:', 'http:', 'mailto:', 'ftp:'].includes(link.protocol))
          faults.push(`url ${url}`)
        if (element.id !== '' && !/^(user-content-|fn)/.test(element.id)) faults.push(`id ${element.id}`)
      }
      if (document.body.children.length !== 2 || document.querySelectorAll('body > ul > li > div').length !== 1)
        faults.push('the content left its frame')
      if (whole.body.children.length !== 1) faults.push('the content left its frame in a document')
      window.addEventListener('click', (event) => event.preventDefault(), { once: true, capture: true })
      for (const element of document.querySelectorAll('#box *'))
        for (const type of ['click', 'mouseover', 'focus', 'pointerenter', 'wheel', 'toggle', 'animationstart'])
          element.dispatchEvent(new Event(type, { bubbles: true, cancelable: true }))
      await new Promise((done) => setTimeout(done, 0))
      return { hits, faults }
    },
    { html, elements: ELEMENTS },
  )
}

async function attempt(source: string, options: { mode: Mode; markup?: Markup }): Promise<string[]> {
  const html = await render(source, { ...options, context: 'alice/r' })
  const { hits, faults } = await judge(html)
  const found = [...faults]
  if (hits > 0) found.push('a script ran')
  const leaks = requests.splice(0).filter((url) => !url.startsWith(`${BASE}/`))
  if (leaks.length > 0) found.push(`requests ${leaks.join(' ')}`)
  return found.length === 0 ? [] : [`${JSON.stringify(source)} -> ${JSON.stringify(html)}: ${found.join(', ')}`]
}

test('the corpus has at least 200 different attempts', () => {
  expect(new Set(ATTACKS).size).toBeGreaterThanOrEqual(200)
})

/** In the forms of text that let HTML through, or addresses. */
const FORMS: readonly { markup: Markup; wrap(source: string): string }[] = [
  { markup: 'markdown', wrap: (source) => source },
  { markup: 'org', wrap: (source) => source },
  { markup: 'org', wrap: (source) => `#+begin_html\n${source}\n#+end_html` },
  { markup: 'rst', wrap: (source) => source },
  { markup: 'csv', wrap: (source) => source },
  { markup: 'asciidoc', wrap: (source) => `++++\n${source}\n++++` },
]

test.each(FORMS)(
  'every attempt is inert as $markup, as far as a parser of pages can see',
  async ({ markup, wrap }) => {
    const found: string[] = []
    for (const mode of ['markdown', 'comment', 'file', 'wiki'] as const)
      for (const source of ATTACKS) {
        const faults = faultsOf(await render(wrap(source), { mode, markup, context: 'alice/r' }))
        if (faults.length > 0) found.push(`${mode} ${JSON.stringify(source)}: ${faults.join(', ')}`)
      }
    expect(found).toEqual([])
  },
  120_000,
)

test.each([
  '<img src=x onerror=hit(1)>',
  '</div></li><b>x</b>',
  '<li>x</li>',
  '<dd>x',
  '<a href="java\tscript:1">x</a>',
  '<b id=x>y</b>',
  '<!-- x -->',
  '<p style="background:url(x)">',
])('%j as it stands is seen by the parser of pages', (html) => {
  expect(faultsOf(html)).not.toEqual([])
})

browsing.each(['markdown', 'comment', 'file', 'wiki'] as const)(
  'every attempt is inert in mode %s',
  async (mode) => {
    const found: string[] = []
    for (const source of ATTACKS) found.push(...(await attempt(source, { mode })))
    expect(found).toEqual([])
  },
  120_000,
)

browsing.each(['asciidoc', 'org', 'rst', 'csv', 'text'] as const)(
  'every attempt is inert as %s',
  async (markup) => {
    const found: string[] = []
    for (const source of ATTACKS) {
      found.push(...(await attempt(source, { mode: 'file', markup })))
      if (markup === 'asciidoc') found.push(...(await attempt(`++++\n${source}\n++++`, { mode: 'file', markup })))
      if (markup === 'rst') {
        const raw = `.. raw:: html\n\n   ${source.replaceAll('\n', '\n   ')}`
        found.push(...(await attempt(raw, { mode: 'file', markup })))
        const link = `\`x <${source}>\`_ |s|_\n\n.. |s| image:: ${source}\n   :target: ${source}\n`
        found.push(...(await attempt(link, { mode: 'file', markup })))
      }
      if (markup === 'org')
        found.push(...(await attempt(`#+begin_html\n${source}\n#+end_html`, { mode: 'file', markup })))
    }
    expect(found).toEqual([])
  },
  120_000,
)

browsing('an attack that is not cleaned is seen', async () => {
  expect((await judge('<img src=x onerror=hit(1)>')).faults).toEqual(['attribute onerror', 'attribute onerror'])
  expect((await judge('</div></li><script>1</script>')).faults).toContain('the content left its frame in a document')
  expect((await judge('<details open ontoggle=hit(1)>')).hits).toBeGreaterThan(0)
  expect((await judge('<a href="javascript:1">x</a>')).faults).toContain('url javascript:1')
})
