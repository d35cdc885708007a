// `bun test/render/fuzz.ts [--seconds 300] [--seed 1]`: texts put together at random from pieces that mean something to a
// parser, through the renderer with its limits. Ends with 1 at the first text that takes too long or comes out with a tag,
// attribute or address that is not allowed; the seed finds it again.
import { parseContext } from '../../src/render/context.ts'
import type { Markup } from '../../src/render/markup/by-extension.ts'
import { createRenderer } from '../../src/render/renderer.ts'
import { ATTACKS } from './attacks.ts'
import { faultsOf } from './faults.ts'

const option = (name: string, fallback: number): number => {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? fallback : Number(process.argv[at + 1])
}
const seconds = option('seconds', 300)
let state = option('seed', 1)

const SIGNS = [
  '[',
  ']',
  '(',
  ')',
  '!',
  '*',
  '**',
  '_',
  '~',
  '~~',
  '`',
  '```',
  '$',
  '$$',
  '#',
  '>',
  '- ',
  '1. ',
  '|',
  '\n',
  '\n\n',
  ' ',
  '    ',
]
const HTML = [
  '<',
  '>',
  '</',
  '<a ',
  '<b>',
  '</b>',
  '<!--',
  '-->',
  '<![CDATA[',
  ']]>',
  '<svg>',
  '<style>',
  '<table>',
  '<td>',
  '<li>',
  '"',
  "'",
  '=',
  '&',
  ';',
]
const WORDS = [
  'a',
  'b c',
  'é',
  '漢',
  '\0',
  '@alice',
  '#1',
  'http://a.b/c',
  'www.a.b',
  'a@b.c',
  'javascript:',
  'onerror=',
  ':tada:',
  '.. note:: ',
  '.. _a: b\n',
  ':ref:`a`',
  '`a`_',
  '====\n',
  '[^1]',
  '[^1]: ',
  '[a]: b',
  'deadbeef1',
  '---\n',
]
const pieces = [...SIGNS, ...HTML, ...WORDS, ...ATTACKS]
const MARKUPS: readonly Markup[] = ['markdown', 'markdown', 'markdown', 'markdown', 'org', 'asciidoc', 'rst', 'csv']

/** Xorshift, so that a run can be repeated. */
function random(below: number): number {
  state ^= state << 13
  state ^= state >>> 17
  state ^= state << 5
  return (state >>> 0) % below
}
const pick = <Item>(items: readonly Item[], fallback: Item): Item => items[random(items.length)] ?? fallback

function makeText(): string {
  const length = 2 ** (4 + random(15))
  const few = Array.from({ length: 1 + random(6) }, () => pick(pieces, ''))
  const choice = random(2) === 0 ? few : pieces
  let text = ''
  while (text.length < length) text += pick(choice, ' ').repeat(1 + (random(8) === 0 ? random(200) : 0))
  return text.slice(0, 300 * 1024)
}

const renderer = createRenderer({ warn: () => undefined })
const end = performance.now() + seconds * 1000
let count = 0
let slowest = { taken: 0, text: '' }
while (performance.now() < end) {
  const seed = state
  const source = makeText()
  const mode = pick(['markdown', 'comment', 'file', 'wiki', 'gfm'] as const, 'markdown')
  const context = parseContext({ baseUrl: 'http://localhost:3000', mode, context: 'alice/r', isWiki: false })
  const markup = pick(MARKUPS, 'markdown')
  const start = performance.now()
  const html = await renderer.render({ source, markup, context })
  const taken = performance.now() - start
  if (taken > slowest.taken) slowest = { taken, text: `${markup} of ${source.length}, seed ${seed}` }
  count++
  const fault = taken > 4000 ? `took ${taken.toFixed(0)} ms` : faultsOf(html)[0]
  if (fault !== undefined) {
    process.stdout.write(
      `seed ${seed}, ${markup} in mode ${mode}, ${source.length} characters: ${fault}\n${source.slice(0, 500)}\n`,
    )
    process.exit(1)
  }
}
renderer.stop()
const memory = (process.memoryUsage.rss() / 1024 / 1024).toFixed(0)
process.stdout.write(
  `${count} texts, slowest ${slowest.taken.toFixed(0)} ms (${slowest.text}), ${memory} MiB resident at the end\n`,
)
