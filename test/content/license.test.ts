import { expect, test } from 'bun:test'
import { detectLicenses, isLicenseFile } from '../../src/content/license.ts'
import { fillLicense } from '../../src/templates/license-notice.ts'
import { createTemplates } from '../../src/templates/templates.ts'

const templates = createTemplates({ dir: '/nonexistent' })
const textOf = async (key: string) => (await templates.license(key)) ?? ''

test.each([
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD-3-Clause',
  'BSD-2-Clause',
  'MPL-2.0',
  'Unlicense',
  'CC0-1.0',
  '0BSD',
  'Zlib',
  'WTFPL',
  'EPL-2.0',
])('a filled-in %s is recognized', async (key) => {
  const text = fillLicense(key, await textOf(key), { year: 2026, holder: 'Ann Example and others', project: 'p' })
  expect(await detectLicenses(text)).toEqual([key])
  const wrapped = text.replace(/\n(?!\n)/g, ' ').toUpperCase()
  if (key !== 'ISC' && key !== '0BSD') expect(await detectLicenses(wrapped)).toEqual([key])
})

test.each([
  ['GPL-3.0', 'GPL-3.0-only'],
  ['GPL-2.0-or-later', 'GPL-2.0-only'],
  ['AGPL-3.0', 'AGPL-3.0-only'],
])('the text of %s is told as %s', async (key, told) => {
  expect(await detectLicenses(await textOf(key))).toEqual([told])
})

test.each([
  '',
  'All rights reserved.',
  'MIT License',
  'word '.repeat(10_000),
  'This project is free to use for everybody who likes it.',
])('%j is no known license', async (text) => expect(await detectLicenses(text)).toEqual([]))

test('half of a license is not the license', async () => {
  const text = await textOf('Apache-2.0')
  expect(await detectLicenses(text.slice(0, text.length / 2))).toEqual([])
})

test.each([
  ['LICENSE', true],
  ['LICENSE.md', true],
  ['licence.txt', true],
  ['COPYING', true],
  ['COPYING.LESSER', true],
  ['UNLICENSE', true],
  ['LICENSE-MIT', true],
  ['MIT-LICENSE.txt', true],
  ['docs/LICENSE', false],
  ['license.go.bak/x', false],
  ['README', false],
  ['licensed', false],
])('%s may hold the license: %p', (path, isOne) => expect(isLicenseFile(path)).toBe(isOne))
