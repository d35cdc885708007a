import { expect, test } from 'bun:test'
import { resolve } from 'node:path'
import { configMarkdown } from '../src/cli/config.ts'
import { resultLine } from './report.ts'

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

test('the last line of a run is as the README says, also where something was skipped', () => {
  expect(resultLine({ passed: 12, failed: 0, skipped: 0 })).toBe('12 passed, 0 failed')
  expect(resultLine({ passed: 12, failed: 1, skipped: 2 }).split('\n').at(-1)).toBe('12 passed, 1 failed')
})
