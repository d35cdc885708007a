import { expect, test } from 'bun:test'
import { resolve } from 'node:path'
import { configMarkdown } from '../src/cli/config.ts'

const readme = await Bun.file(resolve(import.meta.dir, '../README.md')).text()

test('the table of settings in the README is the one that `config --markdown` prints', () => {
  const [, table] = /<!-- config -->\n([\s\S]*?)<!-- \/config -->/.exec(readme) ?? []
  expect(table).toBe(configMarkdown())
})

test('the README names the two commands on its first screen', () => {
  const screen = readme.split('\n').slice(0, 25).join('\n')
  expect(screen).toContain('npx -y bun@1.4.5 run start')
  expect(screen).toContain('npx -y bun@1.4.5 run test')
})
