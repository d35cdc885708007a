import { expect, test } from 'bun:test'
import { browserName } from '../../src/web/browser-name.ts'
import { html, raw, safeUrl } from '../../src/web/html.ts'

test('what stands in a template is escaped, unless it is HTML already', () => {
  const hostile = `"><script>alert('1')</script>&`
  expect(html`<a title="${hostile}">${hostile}</a>`.text).not.toMatch(/<script|'1'|">"/)
  expect(html`<p>${html`<b>${'<i>'}</b>`}</p>`.text).toBe('<p><b>&lt;i&gt;</b></p>')
  expect(html`${raw('<hr>')}${['a', html`<br>`, 1]}`.text).toBe('<hr>a<br>1')
  expect(html`[${undefined}${null}${false}${''}${0}]`.text).toBe('[0]')
  // Whatever has been given a shape like that of HTML is a text all the same.
  expect(html`${JSON.parse('["<b>"]')}`.text).toBe('&lt;b&gt;')
})

test.each([
  ['https://example.org/a?b', 'https://example.org/a?b'],
  ['http://example.org', 'http://example.org/'],
  ['mailto:a@example.org', 'mailto:a@example.org'],
  ['javascript:alert(1)', undefined],
  [' javascript:alert(1)', undefined],
  ['java\nscript:alert(1)', undefined],
  ['JAVASCRIPT:alert(1)', undefined],
  ['data:text/html,x', undefined],
  ['vbscript:x', undefined],
  ['//example.org', undefined],
  ['nonsense', undefined],
  ['', undefined],
])('a link to %j leads to %j', (given, expected) => {
  expect(safeUrl(given)).toBe(expected)
})

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox 140 on Linux'],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36',
    'Chrome 138 on Windows',
  ],
  [
    'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0 Safari/537.36 Edg/138.0',
    'Edge 138 on Windows',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
    'Safari 18 on iOS',
  ],
  ['curl/8.1', 'curl/8.1'],
  ['', 'Unknown browser'],
])('%j is %j to people', (userAgent, name) => {
  expect(browserName(userAgent)).toBe(name)
})
