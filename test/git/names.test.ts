import { describe, expect, test } from 'bun:test'
import { isValidBranchName, isValidRefName, isValidTagName, revisionCandidates } from '../../src/git/names.ts'
import { isSubmoduleFile, pathProblem } from '../../src/git/paths.ts'
import { storagePath } from '../../src/git/storage.ts'
import { run } from './stage.ts'

const NAMES = [
  'main', 'a/b', 'a.b', 'a.lock', 'a.lock/b', '.a', 'a/.b', 'a..b', 'a b', 'a~b', 'a^b', 'a:b', 'a?b', 'a*b', 'a[b', 'a]b',
  'a\\b', 'a@b', 'a@{b', '@', 'a/', '/a', 'a//b', 'a.', 'a/b.', 'a\x7fb', 'a\x01b', 'ä/ö', 'x'.repeat(200), 'a{b}', "a'b", 'a"b',
  'a;b', '$(a)', 'a|b', 'lock', 'a.locks', '...', 'a/-b', '🌲',
] // biome-ignore format: a table

test.each(NAMES)('judges the branch name %j as git does', async (name) => {
  const { exitCode } = await run(['check-ref-format', `refs/heads/${name}`])
  expect(isValidRefName(`refs/heads/${name}`)).toBe(exitCode === 0)
})

test.each([
  '-x', '--upload-pack=x', 'HEAD', '', 'refs/heads/x', 'x'.repeat(251), `${'x/'.repeat(600)}x`, '\ud800', 'a\ufffdb', 'a\0b', 'a\nb',
  'a\u202eb', 'a\u2066b', 'a\u200fb', 'a\u061cb',
])('refuses %j as a branch, stricter than git', (name) => {
  expect(isValidBranchName(name)).toBe(false)
  expect(isValidTagName(name.replace('refs/heads/x', 'refs/tags/x'))).toBe(false)
}) // biome-ignore format: a table

test.each(['main', 'refs', 'heads/main', '../x', 'refs/heads', 'refs//x'])('refuses the full name %j', (name) => {
  expect(isValidRefName(name)).toBe(false)
})

describe('a revision', () => {
  const sha = 'a'.repeat(40)
  test.each([
    ['main', ['refs/heads/main', 'refs/tags/main']],
    ['abcd', ['refs/heads/abcd', 'refs/tags/abcd', 'abcd']],
    ['HEAD~2', ['HEAD~2']],
    ['v1^{commit}', ['refs/heads/v1^{commit}', 'refs/tags/v1^{commit}']],
    [sha, [sha]],
    ['refs/pull/1/head', ['refs/pull/1/head']],
  ])('%j can be %j', (text, names) => {
    expect(revisionCandidates(text)).toEqual(names)
  })

  test.each([
    '-x', '--all', ':/text', 'HEAD^{/fix}', 'main:README.md', 'main@{1}', '@{-1}', 'a..b', 'a...b', '^main', 'main\nHEAD', '', ' ',
    'main HEAD', 'refs/heads/../x', `main${'^'.repeat(65)}`, 'main~99999999', 'x'.repeat(1001), 'main^{/(a+)+$}', 'main^@', 'main^!',
  ])('is not %j', (text) => {
    expect(revisionCandidates(text)).toBeUndefined()
  }) // biome-ignore format: a table
})

describe('a path in a tree', () => {
  test.each([
    'a', 'a/b/c.txt', '.gitignore', '.github/x', '.gitmodules', 'git', 'a.git', 'git~x', '-rf', 'a b', '…', '.g it', 'a\nb', '..a', 'a..',
  ])('may be %j', (path) => {
    expect(pathProblem(path)).toBeUndefined()
  }) // biome-ignore format: a table

  test.each([
    '', '/', '/a', 'a/', 'a//b', '.', '..', 'a/..', '../a', 'a/./b', '.git', '.GIT/config', 'a/.Git', 'git~1', 'GIT~1/x', '.git.', '.git ',
    '.git . .', '.git::$INDEX_ALLOCATION', '.git:x', '.g\u200cit', '.git\ufeff', '\u202e.git', 'a\\..\\b', '.git\\config', 'a\0b',
    '\ud800', 'x'.repeat(256), `${'x/'.repeat(2048)}x`,
  ])('may not be %j', (path) => {
    expect(pathProblem(path)).toBeDefined()
  }) // biome-ignore format: a table

  test.each(['.gitmodules', 'a/.GITMODULES', '.gitmodules ', 'gitmod~1', 'GI7EBA~1', '.git\u200cmodules'])(
    'that is %j sets up submodules somewhere',
    (path) => expect(isSubmoduleFile(path)).toBe(true),
  )
})

test('a repository lies where its id says, and nothing else does', () => {
  expect(storagePath(1)).toBe('@repositories/01/1.git')
  expect(storagePath(511)).toBe('@repositories/ff/511.git')
  expect(storagePath(2 ** 40 + 3)).toBe('@repositories/03/1099511627779.git')
  for (const id of [0, -1, 1.5, Number.NaN, 2 ** 60]) expect(() => storagePath(id)).toThrow()
})
