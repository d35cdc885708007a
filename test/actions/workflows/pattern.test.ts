import { describe, expect, test } from 'bun:test'
import { parsePattern, parsePatterns, patternProblem } from '../../../src/actions/workflows/pattern.ts'
import { seeded } from './seeded.ts'

describe('what GitHub documents', () => {
  test.each([
    // Branches and tags.
    ['feature/*', ['feature/my-branch', 'feature/your-branch'], ['feature/a/b', 'feature']],
    ['feature/**', ['feature/beta-a/my-branch', 'feature/your-branch', 'feature/mona/the/octocat'], ['feature']],
    ['main', ['main'], ['mains', 'amain']],
    ['releases/mona-the-octocat', ['releases/mona-the-octocat'], ['releases/mona']],
    ['*', ['main', 'releases'], ['all/the/branches']],
    ['**', ['all/the/branches', 'every/tag', ''], []],
    ['*feature', ['mona-feature', 'feature', 'ver-10-feature'], ['a/feature', 'features']],
    ['v2*', ['v2', 'v2.0', 'v2.9'], ['v1', 'v2/x']],
    ['v[12].[0-9]+.[0-9]+', ['v1.10.1', 'v2.0.0'], ['v3.0.0', 'v1..1', 'v1.10']],
    // Files.
    ['*', ['README.md', 'server.rb'], ['docs/README.md']],
    ['*.jsx?', ['page.js', 'page.jsx'], ['page.jsxx', 'a/page.js']],
    ['*.js', ['app.js', 'index.js'], ['src/app.js']],
    ['**.js', ['index.js', 'js/index.js', 'src/js/app.js'], ['index.jsx']],
    ['docs/*', ['docs/README.md', 'docs/file.txt'], ['docs/a/b']],
    ['docs/**', ['docs/README.md', 'docs/mona/octocat.txt'], ['doc/README.md']],
    ['docs/**/*.md', ['docs/README.md', 'docs/mona/hello-world.md', 'docs/a/markdown/file.md'], ['docs/a.txt']],
    ['**/docs/**', ['docs/hello.md', 'dir/docs/my-file.txt', 'space/docs/plan/space.doc'], ['mydocs/a']],
    ['**/README.md', ['README.md', 'js/README.md'], ['MYREADME.md']],
    ['**/*src/**', ['a/src/app.js', 'my-src/code/js/app.js'], ['src.js']],
    ['**/*-post.md', ['my-post.md', 'path/their-post.md'], ['post.md']],
    ['**/migrate-*.sql', ['migrate-10909.sql', 'db/migrate-v1.0.sql', 'db/sept/migrate-v1.sql'], ['migrate-a/b.sql']],
    ['[CB]at', ['Cat', 'Bat'], ['cat', 'at']],
    ['[1-2]00', ['100', '200'], ['300']],
    ['Octoc?at', ['Octocat', 'Octoat'], ['Octoccat']],
  ])('%p', (pattern, matching, others) => {
    const glob = parsePattern(pattern)
    expect(matching.filter((text) => !glob.matches(text))).toEqual([])
    expect(others.filter((text) => glob.matches(text))).toEqual([])
  })

  test.each([
    [['*.md', '!README.md'], ['hello.md'], ['README.md', 'docs/hello.md']],
    [['*.md', '!README.md', 'README*'], ['hello.md', 'README.md', 'README.doc'], ['a.txt']],
    [['releases/**', '!releases/**-alpha'], ['releases/10', 'releases/beta/mona'], ['releases/10-alpha']],
  ])('the last of %p that matches decides', (patterns, matching, others) => {
    const list = parsePatterns(patterns)
    expect(matching.filter((text) => !list.matches(text))).toEqual([])
    expect(others.filter((text) => list.matches(text))).toEqual([])
  })
})

test.each([
  ['\\!file', '!file'],
  ['a\\\\b', 'a\\b'],
  ['c\\+\\+', 'c++'],
  ['\\[x\\]', '[x]'],
])('%p is the text %p', (pattern, text) => {
  expect(parsePattern(pattern).matches(text)).toBe(true)
})

test.each(['?a', '+', '*?', 'a??', 'a++', '[', '[]', '[z-a]', '[a-Z]', 'a\\', 'x'.repeat(257)])(
  '%p is no pattern',
  (pattern) => {
    expect(patternProblem(pattern)).toBeString()
  },
)

/** The same by backtracking, as the documentation says it: slow, and short enough to be seen to be right. */
function slowlyMatches(pattern: string, text: string): boolean {
  if (pattern === '') return text === ''
  if (pattern.startsWith('**'))
    return slowlyMatches(pattern.slice(2), text) || (text !== '' && slowlyMatches(pattern, text.slice(1)))
  const [first, mark] = pattern
  const isOne = text !== '' && (first === '[' ? /^[ab]/.test(text) : text[0] === first)
  if (first === '*')
    return (
      slowlyMatches(pattern.slice(1), text) || (text !== '' && text[0] !== '/' && slowlyMatches(pattern, text.slice(1)))
    )
  const length = first === '[' ? 4 : 1
  const behind = pattern.slice(length)
  if (behind[0] === '?')
    return slowlyMatches(behind.slice(1), text) || (isOne && slowlyMatches(behind.slice(1), text.slice(1)))
  if (behind[0] === '+')
    return isOne && (slowlyMatches(behind.slice(1), text.slice(1)) || slowlyMatches(pattern, text.slice(1)))
  return mark !== '' && isOne && slowlyMatches(behind, text.slice(1))
}

test('4,000 patterns of all kinds match as the rules read', () => {
  const next = seeded(7)
  const tokens = ['a', 'b', '/', 'a?', 'b+', '*', '[ab]', '[ab]+', '[ab]?', 'x**', 'a**']
  const letters = ['a', 'b', '/', 'x']
  const wrong: string[] = []
  for (let round = 0; round < 4000; round += 1) {
    const pattern = Array.from({ length: next(5) + 1 }, () => tokens[next(tokens.length)]).join('')
    if (patternProblem(pattern) !== undefined) continue
    const text = Array.from({ length: next(7) }, () => letters[next(letters.length)]).join('')
    if (parsePattern(pattern).matches(text) !== slowlyMatches(pattern, text)) wrong.push(`${pattern} ${text}`)
  }
  expect(wrong).toEqual([])
})

test('the worst pattern takes linear time', () => {
  expect(parsePattern('**a'.repeat(85)).matches(`${'a'.repeat(5_000)}b`)).toBe(false)
})
