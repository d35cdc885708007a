import { expect, test } from 'bun:test'
import { isProtocol, readCommand } from '../../src/ssh/command.ts'
import { LimitedCount } from '../../src/ssh/limited-count.ts'

const fetched = { service: 'upload-pack', owner: 'a', repo: 'b.git' } as const

test.each([
  ["git-upload-pack '/a/b.git'", fetched],
  ["git upload-pack 'a/b.git'", fetched],
  ['git-upload-pack a/b.git', fetched],
  ["git-upload-pack '/a/b.git/'", fetched],
  ["git-upload-archive '/a/b'", { service: 'upload-archive', owner: 'a', repo: 'b' } as const],
  ["git-receive-pack '/a/b'", { service: 'receive-pack', owner: 'a', repo: 'b' } as const],
  [
    'git-lfs-authenticate a/b.git upload',
    { service: 'lfs-authenticate', operation: 'upload', owner: 'a', repo: 'b.git' } as const,
  ],
])('%s', (text, command) => expect(readCommand(text)).toEqual(command))

test.each([
  '',
  'git-upload-pack',
  "git-upload-pack ''",
  "git-upload-pack '/a'",
  "git-upload-pack '/a/b/c'",
  "git-upload-pack '//a/b'",
  "git-upload-pack '/a/b' '/c/d'",
  "git-upload-pack '/a/b'; id",
  "git-upload-pack '/a/b'\nid",
  "git-upload-pack '/a/b\n'",
  "git-upload-pack '/a/b\0'",
  "git-upload-pack --timeout=1 '/a/b'",
  "git-upload-pack '/a/'\\''b'",
  'git-upload-pack "/a/b"',
  "GIT_PROTOCOL=version=2 git-upload-pack '/a/b'",
  "git-upload-archive--writer '/a/b'",
  'git-lfs-authenticate a/b upload 1',
  'git-lfs-authenticate a/b erase',
  'git-lfs-transfer a/b upload',
])('refused: %j', (text) => expect(readCommand(text)).toBeUndefined())

test('the environment takes one variable, in its known form', () => {
  for (const value of ['version=0', 'version=1', 'version=2', 'version=2:agent=x'])
    expect(isProtocol('GIT_PROTOCOL', value)).toBe(true)
  for (const value of ['', 'version=3', 'version=2;id', 'version=2\n', '2'])
    expect(isProtocol('GIT_PROTOCOL', value)).toBe(false)
  expect(isProtocol('LD_PRELOAD', 'version=2')).toBe(false)
})

test('a tally takes so many of each, and a place is given back once', () => {
  const tally = new LimitedCount(2)
  const first = tally.take('a')
  expect(tally.take('a')).toBeDefined()
  expect(tally.take('a')).toBeUndefined()
  expect(tally.take('b')).toBeDefined()
  first?.()
  first?.()
  expect(tally.take('a')).toBeDefined()
  expect(tally.take('a')).toBeUndefined()
})
