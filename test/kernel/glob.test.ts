import { describe, expect, test } from 'bun:test'
import { GlobError, parseGlob } from '../../src/kernel/glob.ts'

const matches = (pattern: string, text: string, separator?: string) => parseGlob(pattern, separator).matches(text)

describe('globs', () => {
  test.each([
    ['', '', true],
    ['', 'a', false],
    ['main', 'main', true],
    ['main', 'mainx', false],
    ['m*n', 'main', true],
    ['m*n', 'mn', true],
    ['*', '', true],
    ['*', 'a/b', true],
    ['?', '', false],
    ['?', 'ä', true],
    ['[a-c]x', 'bx', true],
    ['[!a-c]x', 'bx', false],
    ['[]]', ']', true],
    ['[a-]', '-', true],
    ['{main,release/*}', 'release/1', true],
    ['{main,release/*}', 'mai', false],
    ['{a,{b,c}d,}e', 'cde', true],
    ['{a,{b,c}d,}e', 'e', true],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['a,b}', 'a,b}', true],
    ['{*a}{*b}', 'xaxb', true],
  ])('%p and %p: %p', (pattern, text, expected) => {
    expect(matches(pattern, text)).toBe(expected)
  })

  test('pass a separator with two stars only', () => {
    expect(matches('o/*', 'o/a/b', '/')).toBe(false)
    expect(matches('o/**', 'o/a/b', '/')).toBe(true)
    expect(matches('o?a', 'o/a', '/')).toBe(false)
    expect(matches('o[!x]a', 'o/a', '/')).toBe(false)
  })

  test.each(['[bad', '[', '{a', '{a,{b}', 'a\\', '[z-a]', `{${'{'.repeat(5)}`, '*'.repeat(257)])(
    'refuse %p',
    (pattern) => {
      expect(() => parseGlob(pattern)).toThrow(GlobError)
    },
  )

  test('take linear time', () => {
    expect(matches('*a'.repeat(128), `${'a'.repeat(20_000)}b`)).toBe(false)
    expect(matches('{*a,*b}'.repeat(36), `${'ab'.repeat(5_000)}c`)).toBe(false)
  })
})
