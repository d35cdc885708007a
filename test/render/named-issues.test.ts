import { expect, test } from 'bun:test'
import { issuesNamedIn, issuesNamedInPlain } from '../../src/render/named-issues.ts'

const namesOf = (text: string) =>
  issuesNamedIn(text).map(({ repository, number, action }) => {
    const place = repository ? `${repository.owner}/${repository.name}` : ''
    return `${place}#${number}${action === 'none' ? '' : ` ${action}`}`
  })

test.each<[string, string[]]>([
  ['', []],
  ['no issue, no. 12', []],
  ['#12, !13 and Owner/Repo#14.', ['#12', '#13', 'owner/repo#14']],
  ['#0 #9999999999 x#12 #12x #1-2', []],
  ['closes #1', ['#1 closes']],
  ['Closes: #1', ['#1 closes']],
  ['close #1 closed #2 fix #3 fixes #4 fixed #5', ['#1', '#2', '#3', '#4', '#5'].map((name) => `${name} closes`)],
  ['resolve #1 resolves #2 RESOLVED\n#3', ['#1', '#2', '#3'].map((name) => `${name} closes`)],
  ['reopen #1 reopens #2 reopened o/r#3', ['#1 reopens', '#2 reopens', 'o/r#3 reopens']],
  ['closes #1, #2', ['#1 closes', '#2']],
  ['discloses #1 prefix #2 un-fix #3 closes the #4', ['#1', '#2', '#3', '#4']],
  ['#1 and closes #1', ['#1 closes']],
  ['`#1` closes `#2`', []],
  ['```\n#1\n```\n#2', ['#2']],
])('%j names %j', (text, names) => {
  expect(namesOf(text)).toEqual(names)
})

test('a commit has no code, and fifty issues are enough', () => {
  expect(issuesNamedInPlain('`#1`')).toHaveLength(0)
  expect(issuesNamedInPlain('use `x`, see #1')).toHaveLength(1)
  const many = Array.from({ length: 60 }, (_, index) => `#${index + 1}`).join(' ')
  expect(issuesNamedIn(many)).toHaveLength(50)
  const hostile = 'closes '.repeat(150_000)
  expect(issuesNamedIn(`${hostile}#1`)).toEqual([])
})
