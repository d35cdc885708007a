import { expect, test } from 'bun:test'
import { tests } from 'commonmark-spec'
import { parserOf } from '../../src/render/markdown/parser.ts'
import { comparable } from './support.ts'

interface Example {
  number: number
  section: string
  markdown: string
  html: string
}

/** CommonMark examples that are answered differently on purpose, each with its reason. */
const DEVIATIONS: Readonly<Record<number, string>> = {
  34: 'a language name outside of ASCII is not made a class',
  144: 'a language name of punctuation is not made a class',
}

const examples: readonly Example[] = tests

test('the published examples are all read', () => expect(examples.length).toBe(652))

test.each(examples.map((example) => [example.number, example.section, example] as const))(
  'CommonMark 0.31.2 example %i (%s)',
  (number, _section, { markdown, html }) => {
    const rendered = comparable(parserOf('markdown').render(markdown.replaceAll('→', '\t')))
    const published = comparable(html.replaceAll('→', '\t'))
    if (DEVIATIONS[number] === undefined) expect(rendered).toBe(published)
    else expect(rendered).not.toBe(published)
  },
)
