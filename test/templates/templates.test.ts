import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fillLicense } from '../../src/templates/license-notice.ts'
import { createTemplates, type Templates } from '../../src/templates/templates.ts'

let dir: string
let templates: Templates
const vars = { name: 'r', description: '', owner: 'o', cloneUrl: 'http://h/o/r.git', sshUrl: 'ssh://h/o/r.git' }

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'templates-'))
  templates = createTemplates({ dir })
})
afterAll(() => rm(dir, { recursive: true, force: true }))

async function put(path: string, text: string): Promise<void> {
  await mkdir(join(dir, path, '..'), { recursive: true })
  await Bun.write(join(dir, path), text)
}

test('the built-in lists are there without any folder', async () => {
  const missing = createTemplates({ dir: join(dir, 'nothing') })
  const gitignores = await missing.listGitignores()
  for (const name of [
    'Go',
    'Node',
    'Python',
    'C++',
    'Java',
    'Rust',
    'VisualStudio',
    'JetBrains',
    'macOS',
    'Objective-C',
  ])
    expect(gitignores).toContain(name)
  expect(gitignores.length).toBeGreaterThan(150)
  expect(gitignores).toEqual([...gitignores].sort())
  expect((await missing.listLicenses()).length).toBeGreaterThan(600)
  expect(await missing.listLabelSets()).toEqual(['Advanced', 'Default'])
})

test('every listed template has a text', async () => {
  for (const name of await templates.listGitignores())
    expect((await templates.gitignore(name))?.endsWith('.gitignore')).toBe(false)
  for (const key of await templates.listLicenses()) expect((await templates.license(key))?.length).toBeGreaterThan(50)
})

test.each(['NoSuch', 'go', '../Go', '..%2FGo', 'Go/../Go', '', '.', '..', 'constructor', '__proto__', '\0'])(
  'the name %j finds nothing',
  async (name) => {
    expect(await templates.gitignore(name)).toBeUndefined()
    expect(await templates.license(name)).toBeUndefined()
    expect(await templates.labelSet(name)).toBeUndefined()
    expect(await templates.readme(name, vars)).toBeUndefined()
  },
)

test('the README is a heading and the description', async () => {
  expect(await templates.readme('Default', vars)).toBe('# r\n\n')
  expect(await templates.readme('Default', { ...vars, description: 'about $& {Name}' })).toBe('# r\n\nabout $& {Name}')
})

test('files of the operator are listed, found, and win over built-in ones', async () => {
  await put('gitignore/House.gitignore', 'house/\n')
  await put('gitignore/Go', 'ours\n')
  await put('gitignore/-rf', 'no\n')
  await put('gitignore/.hidden', 'no\n')
  await put('license/House-1.0.txt', 'Copyright <year> <owner>')
  await put('readme/House.md', '{Name} of {OwnerName}: {CloneURL.HTTPS} {Unknown} {Description}')
  const names = await templates.listGitignores()
  expect(names).toContain('House')
  expect(names).not.toContain('-rf')
  expect(names).not.toContain('.hidden')
  expect(await templates.gitignore('House')).toBe('house/\n')
  expect(await templates.gitignore('Go')).toBe('ours\n')
  expect(await templates.listLicenses()).toContain('House-1.0')
  expect(await templates.license('House-1.0')).toBe('Copyright <year> <owner>')
  expect(await templates.readme('House', { ...vars, description: '{Name}' })).toBe(
    'r of o: http://h/o/r.git {Unknown} {Name}',
  )
})

test('a link in an operator folder is not followed', async () => {
  await put('gitignore/House.gitignore', 'house/\n')
  await symlink('/etc/passwd', join(dir, 'gitignore', 'Passwords'))
  expect(await templates.listGitignores()).not.toContain('Passwords')
  expect(await templates.gitignore('Passwords')).toBeUndefined()
})

test('label files are read in both forms, broken ones are not offered', async () => {
  await put('label/Team.yaml', 'labels:\n  - { name: a/b, color: "#00AAFF", exclusive: true }\n')
  await put('label/Old', '#ee0701 bug ; Something\n#cccccc two words\n')
  await put('label/Broken.yaml', 'labels: [\n')
  await put('label/Wrong.yaml', 'labels:\n  - { name: a, color: red }\n')
  expect(await templates.listLabelSets()).toEqual(['Advanced', 'Default', 'Old', 'Team'])
  expect(await templates.labelSet('Team')).toEqual([{ name: 'a/b', color: '00aaff', description: '', exclusive: true }])
  expect(await templates.labelSet('Old')).toEqual([
    { name: 'bug', color: 'ee0701', description: 'Something', exclusive: false },
    { name: 'two words', color: 'cccccc', description: '', exclusive: false },
  ])
})

test.each([
  ['MIT', 'Copyright (c) 2026 A $& B'],
  ['BSD-3-Clause', 'Copyright (c) 2026 A $& B'],
  ['ISC', 'Copyright (c) 2026 A $& B'],
  ['0BSD', 'Copyright (c) 2026 A $& B'],
  ['MIT-0', '2026 A $& B'],
])('the notice of %s is filled in', async (key, expected) => {
  const text = (await templates.license(key)) ?? ''
  const filled = fillLicense(key, text, { year: 2026, holder: 'A $& B', project: 'p' })
  expect(filled).toContain(expected)
  expect(
    filled.split('\n').filter((line) => /copyright.*[<[](year|yyyy|owner|copyright holder)|Consortium/i.test(line)),
  ).toEqual([])
})

test.each(['GPL-3.0-only', 'Apache-2.0', 'AGPL-3.0-or-later', 'MPL-2.0'])('%s stays word for word', async (key) => {
  const text = (await templates.license(key)) ?? ''
  expect(fillLicense(key, text, { year: 2026, holder: 'A', project: 'p' })).toBe(text)
})
