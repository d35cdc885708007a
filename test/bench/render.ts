// `bun test/bench/render.ts`: time of one README of 10 KB, step by step, and through the renderer with its threads. The made
// one is dense; those that came with packages are what people write.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Glob } from 'bun'
import { parseContext } from '../../src/render/context.ts'
import { linksOf } from '../../src/render/html/links.ts'
import { sanitize } from '../../src/render/html/sanitize.ts'
import { linkText } from '../../src/render/html/text.ts'
import { renderMarkdown } from '../../src/render/markdown/markdown.ts'
import { NO_REFERENCES } from '../../src/render/references.ts'
import { createRenderer } from '../../src/render/renderer.ts'
import { wantedReferences } from '../../src/render/wanted.ts'
import { makeReadme } from './data.ts'

const ROUNDS = 400

const context = parseContext({
  baseUrl: 'http://localhost:3000',
  mode: 'file',
  context: '/o/r/src/branch/main',
  isWiki: false,
})
const readme = makeReadme(10 * 1024)
const html = renderMarkdown(readme, { mode: 'file', isColoured: true })
const links = linksOf(context)
const options = { text: linkText(context, NO_REFERENCES), link: links.link, image: links.image }
const say = (line: string) => process.stdout.write(`${line}\n`)

say(
  `README of ${readme.length} characters, HTML of ${html.length}; ${ROUNDS} rounds after as many to warm up: 10th percentile, median, 95th in ms`,
)
measure('find what to look up', () => wantedReferences(readme, context))
measure('markdown', () => renderMarkdown(readme, { mode: 'file', isColoured: false }))
measure('markdown with colored code', () => renderMarkdown(readme, { mode: 'file', isColoured: true }))
measure('sanitize', () => sanitize(html, { isPlain: true }))
measure('sanitize, resolve and link', () => sanitize(html, options))
measure('all, plain', () =>
  sanitize(renderMarkdown(readme, { mode: 'markdown', isColoured: false }), { isPlain: true }),
)
measure('all, as a file', () => sanitize(renderMarkdown(readme, { mode: 'file', isColoured: true }), options))

const real = realReadmes()
say(`${real.length} READMEs of 9 to 10 KB that came with packages, each rendered anew`)
measureEach('all, plain', (source) =>
  sanitize(renderMarkdown(source, { mode: 'markdown', isColoured: false }), { isPlain: true }),
)
measureEach('all, as a file, no colors', (source) =>
  sanitize(renderMarkdown(source, { mode: 'file', isColoured: false }), options),
)
measureEach('all, as a file', (source) => sanitize(renderMarkdown(source, { mode: 'file', isColoured: true }), options))

// What a caller waits for: every text is a new one, so that nothing comes from the cache.
const renderer = createRenderer({ warn: () => undefined })
let number = 0
const render = (source: string) => renderer.render({ source, markup: 'markdown', context })
await measureAsync('through a thread', [readme], (source) => render(`${source}\n${number++}`))
await measureAsync('the same, real READMEs', real, (source) => render(`${source}\n${number++}`))
await measureAsync('from the cache', real, render)
renderer.stop()

function realReadmes(): string[] {
  const packages = resolve(import.meta.dir, '../../node_modules')
  const texts = [...new Glob('**/README.md').scanSync({ cwd: packages, absolute: true })]
    .sort()
    .map((path) => readFileSync(path, 'utf8'))
  return texts.filter(({ length }) => length > 9000 && length < 12_500).map((text) => text.slice(0, 10 * 1024))
}

function measureEach(name: string, run: (source: string) => unknown): void {
  for (let round = 0; round < 30; round++) for (const source of real) run(source)
  const times: number[] = []
  for (let round = 0; round < 60; round++)
    for (const source of real) {
      const start = performance.now()
      run(source)
      times.push(performance.now() - start)
    }
  tell(name, times)
}

function measure(name: string, run: () => unknown): void {
  for (let round = 0; round < ROUNDS; round++) run()
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now()
    run()
    times.push(performance.now() - start)
  }
  tell(name, times)
}

async function measureAsync(name: string, sources: string[], run: (source: string) => Promise<unknown>): Promise<void> {
  const times: number[] = []
  const rounds = Math.ceil(ROUNDS / sources.length)
  for (let round = 0; round < 2 * rounds; round++)
    for (const source of sources) {
      const start = performance.now()
      await run(source)
      if (round >= rounds) times.push(performance.now() - start)
    }
  tell(name, times)
}

function tell(name: string, times: number[]): void {
  times.sort((left, right) => left - right)
  const at = (share: number) => (times[Math.floor(times.length * share)] ?? 0).toFixed(2).padStart(8)
  say(`${name.padEnd(30)}${at(0.1)}${at(0.5)}${at(0.95)}`)
}
