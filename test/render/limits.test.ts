import { afterAll, expect, test } from 'bun:test'
import { parseContext } from '../../src/render/context.ts'
import type { Markup } from '../../src/render/markup/by-extension.ts'
import { issueKey, type WantedReferences } from '../../src/render/references.ts'
import { createRenderer } from '../../src/render/renderer.ts'
import { cpuMs } from '../harness/cpu.ts'
import { BASE, KNOWN } from './support.ts'

const renderer = createRenderer({ warn() {} })
afterAll(() => renderer.stop())

const context = parseContext({ baseUrl: BASE, mode: 'comment', context: 'alice/r', isWiki: false })
const render = (source: string, markup: Markup = 'markdown') => renderer.render({ source, markup, context })
const fill = (piece: string, length: number) => piece.repeat(Math.ceil(length / piece.length)).slice(0, length)
const inCode = (language: string, line: string) => `\`\`\`${language}\n${`${fill(line, 990)}\n`.repeat(60)}\`\`\``

const LONGEST = 256 * 1024
// biome-ignore format: one piece a line would hide the list
const PIECES = [
  '[', ']', '[a](', '![a](', '![](a)', '*a ', 'a**b', '*_', '*a_ ', '_', '~~a', '>', '> a\n', '* ', '- [ ] ', '- [ ] a\n', '`', '```\n',
  '<', '<b>', '<a ', '<!--', '<![CDATA[', '<a b="', '[a]: b\n', '[^1]', '[^1]: a\n', '$', '$$\n', '\\[\n', '@', 'a@', '#1', 'a/b#',
  '# x\n\n', 'http://', 'http://a((', 'www.a&b;', 'deadbee1', ':a', '&', '&#1', '\\', '\0', ' ', 'a', '|a', '|x|\n|-|\n', '> [!NOTE]\n', '[[',
]

/** The threads of the renderer are of this process, so their work counts too. */
async function cheaply(work: () => Promise<string>): Promise<string> {
  let html = ''
  const ms = await cpuMs(async () => {
    html = await work()
  })
  expect(ms).toBeLessThan(4000)
  return html
}

test.each(PIECES)('a long text of %j is done in time', async (piece) => {
  await cheaply(() => render(fill(piece, 48 * 1024)))
})

test.each(['[', '![](a)', '> [!NOTE]\n'])('the longest text of %j is done in time', async (piece) => {
  await cheaply(() => render(fill(piece, LONGEST)))
})

test.each(['[', '<b>', '*a ', '> '])('a megabyte of %j is shown as it is', async (piece) => {
  const html = await cheaply(() => render(fill(piece, 1024 * 1024)))
  expect(html.startsWith('<pre>')).toBe(true)
})

test('elements that a browser would open again in each paragraph do not multiply', async () => {
  const opened = Array.from({ length: 4000 }, (_, index) => `<b id=${index}>`).join('')
  const html = await cheaply(() => render(opened + '<p>x'.repeat(20_000)))
  // A machine that is too busy for it shows the text as it is.
  expect(html.startsWith('<pre>') || html.length < 100_000).toBe(true)
})

test('a text may be nested more deeply than anybody reads', async () => {
  const html = await cheaply(() => render(`${'<div>'.repeat(20_000)}x`))
  expect(html).toContain('x')
})

test('code that takes too long to color is shown without colors', async () => {
  const html = await cheaply(() => render(`# Head\n\n${inCode('csharp', 'a b ')}`))
  expect(html).toContain('<h1>Head</h1>')
  expect(html).not.toContain('hljs')
  expect(await render('```js\nlet a\n```')).toContain('hljs-keyword')
})

test.each([
  ['asciidoc', '= x\n'],
  ['org', 'a: b\n'],
  ['rst', '`a'],
  ['rst', '* '],
  ['rst', '.. a:: b\n\n   '],
  ['csv', '"'],
] as const)('a long %s of %j ends', async (markup, piece) => {
  expect(await cpuMs(() => render(fill(piece, 32 * 1024), markup))).toBeLessThan(5000)
})

test('memory comes back to within 200 MB after the largest results', async () => {
  Bun.gc(true)
  const before = process.memoryUsage.rss()
  for (const piece of ['![](b)', 'a**b']) await render(fill(piece, LONGEST))
  expect((process.memoryUsage.rss() - before) / 1e6).toBeLessThan(200)
})

test('look-ups are one call with everything that the text names, and what the reader may see decides', async () => {
  const calls: WantedReferences[] = []
  const look = (known: typeof KNOWN) => ({
    lookUp: async (wanted: WantedReferences) => {
      calls.push(wanted)
      return known
    },
  })
  const source = `@Alice @bob #1 !2 bob/x#3 65f1bf27bc ${BASE}/bob/y/issues/4 ${BASE}/bob/y/commit/65f1bf27bc3b`
  const request = { source, markup: 'markdown', context } as const
  const seen = await renderer.render(request, look(KNOWN))
  expect(calls).toEqual([
    {
      users: ['alice', 'bob'],
      issues: [
        { owner: 'alice', repo: 'r', index: 1 },
        { owner: 'alice', repo: 'r', index: 2 },
        { owner: 'bob', repo: 'x', index: 3 },
        { owner: 'bob', repo: 'y', index: 4 },
      ],
      commits: [
        { owner: 'alice', repo: 'r', sha: '65f1bf27bc' },
        { owner: 'bob', repo: 'y', sha: '65f1bf27bc3b' },
      ],
    },
  ])
  expect(seen).toContain(`href="${BASE}/alice/r/issues/1"`)
  expect(seen).not.toContain('bob/x/issues/3')
  const other = {
    users: new Map(),
    issues: new Map([[issueKey('bob', 'x', 3), { isPull: false }]]),
    commits: new Map(),
  }
  const unseen = await renderer.render(request, look(other))
  expect(unseen).not.toContain(`href="${BASE}/alice/r/issues/1"`)
  expect(unseen).toContain(`href="${BASE}/bob/x/issues/3"`)
})

test('a text that names nothing is not looked up', async () => {
  const references = { lookUp: () => Promise.reject(new Error('looked up')) }
  expect(await renderer.render({ source: 'plain `code`', markup: 'markdown', context }, references)).toContain('plain')
})
