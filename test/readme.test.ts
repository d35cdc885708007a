import { expect, test } from 'bun:test'
import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { configMarkdown } from '../src/cli/config.ts'
import { resultLine } from './report.ts'

const root = resolve(import.meta.dir, '..')
const readme = await Bun.file(resolve(root, 'README.md')).text()

test('docs/configuration.md has the table that `config --markdown` prints', async () => {
  const text = await Bun.file(resolve(root, 'docs/configuration.md')).text()
  const [, table] = /<!-- config -->\n([\s\S]*?)<!-- \/config -->/.exec(text) ?? []
  expect(table).toBe(configMarkdown())
})

test('every link of a document leads to a file', async () => {
  const documents = await Array.fromAsync(
    new Bun.Glob('{README.md,docs/*.md,{src,db,test,patches}/**/README.md}').scan(root),
  )
  const broken: string[] = []
  for (const document of documents) {
    const text = await Bun.file(resolve(root, document)).text()
    for (const [, target = ''] of text.matchAll(/\]\((?!https?:|#)([^)#]+)/g))
      if (!(await exists(resolve(root, dirname(document), target)))) broken.push(`${document}: ${target}`)
  }
  expect(broken).toEqual([])
})

test('the files that the walk-through names are there', async () => {
  const text = await Bun.file(resolve(root, 'src/README.md')).text()
  const named = [...text.matchAll(/`((?:[\w-]+\/)+[\w-]+\.ts)`/g)].flatMap(([, path = '']) => path)
  const missing: string[] = []
  for (const path of named)
    if (!(await exists(resolve(root, path.startsWith('db/') ? path : `src/${path}`)))) missing.push(path)
  expect(named.length).toBeGreaterThan(30)
  expect(missing).toEqual([])
})

test('the README names the two commands on its first screen', () => {
  const screen = readme.split('\n').slice(0, 25).join('\n')
  expect(screen).toContain('npx -y bun@1.4.5 run start')
  expect(screen).toContain('npx -y bun@1.4.5 run test')
})

test('the last line of a run is as the README says, also where something was skipped', () => {
  expect(resultLine({ passed: 12, failed: 0, skipped: [] })).toBe('12 passed, 0 failed')
  expect(
    resultLine({ passed: 12, failed: 1, skipped: ['a.test.ts: one'] })
      .split('\n')
      .at(-1),
  ).toBe('12 passed, 1 failed')
})

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
