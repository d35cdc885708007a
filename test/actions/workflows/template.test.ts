import { describe, expect, test } from 'bun:test'
import { type Scope, toData } from '../../../src/actions/workflows/expression.ts'
import { Budget } from '../../../src/actions/workflows/expression-functions.ts'
import type { Json } from '../../../src/actions/workflows/json.ts'
import { escapeTemplate, evaluateAll, evaluateTemplate } from '../../../src/actions/workflows/template.ts'

const scope = (values: Record<string, Json> = {}): Scope => ({
  contexts: new Map(Object.entries(values).map(([name, value]) => [name, toData(value)])),
  functions: [],
  budget: new Budget(),
})

const github = { ref: 'refs/heads/main', labels: [{ name: 'bug' }, { name: 'ui' }], n: 3, no: null, constructor: 'x' }
const evaluate = (template: string) => evaluateTemplate(template, scope({ github }))

describe('what GitHub documents of expressions', () => {
  test.each<[string, Json]>([
    ['plain', 'plain'],
    [`\${{ github.ref }}`, 'refs/heads/main'],
    [`on \${{ github.ref }}!`, 'on refs/heads/main!'],
    [`\${{ github.n }}`, 3],
    [`n\${{ github.n }}`, 'n3'],
    [`\${{ github.nothing }}`, null],
    [`[\${{ github.nothing }}]`, '[]'],
    [`\${{ 'it''s }} here' }}`, `it's }} here`],
    [`\${{ github['ref'] }}`, 'refs/heads/main'],
    [`\${{ github.labels.*.name }}`, ['bug', 'ui']],
    [`\${{ join(github.labels.*.name, ', ') }}`, 'bug, ui'],
    [`\${{ contains(github.labels.*.name, 'BUG') }}`, true],
    [`\${{ contains('Hello world', 'llo') }}`, true],
    [`\${{ startsWith('Hello world', 'he') }}`, true],
    [`\${{ endsWith('Hello world', 'ld') }}`, true],
    [`\${{ format('Hello {0} {1} {2}', 'Mona', 'the', 'Octocat') }}`, 'Hello Mona the Octocat'],
    [`\${{ format('{{Hello {0}}}', 'Mona') }}`, '{Hello Mona}'],
    [`\${{ toJSON(github.labels[0]) }}`, '{\n  "name": "bug"\n}'],
    [`\${{ fromJSON('{"a":[1,true,null]}') }}`, { a: [1, true, null] }],
    [`\${{ fromJSON('["a"]')[0] }}`, 'a'],
    [`\${{ github.no || 'default' }}`, 'default'],
    [`\${{ github.n > 2 && 'many' || 'few' }}`, 'many'],
    [`\${{ !github.n }}`, false],
    [`\${{ null == 0 }}`, true],
    [`\${{ 'A' == 'a' }}`, true],
    [`\${{ 1 == '1' }}`, true],
    [`\${{ 0xff }}`, 255],
    [`\${{ -2.99e-2 }}`, -0.0299],
    [`\${{ true }} and \${{ false }}`, 'true and false'],
  ])('%j is %j', (template, expected) => {
    expect(evaluate(template)).toEqual(expected)
  })
})

test.each([
  [`\${{ github.ref`, 'does not end'],
  [`\${{ nobody.ref }}`, 'Unrecognized named-value'],
  [`\${{ shout() }}`, 'Unrecognized function'],
  [`\${{ fromJSON('{') }}`, 'fails'],
  [`\${{ fromJSON('"\\u0000"') }}`, 'NUL'],
  [`\${{ fromJSON('{ "\\ud800": 1 }') }}`, 'half of a character'],
  [`\${{ format('{1}', 'a') }}`, 'fails'],
  [`\${{ ${'('.repeat(60)}1${')'.repeat(60)} }}`, 'depth'],
  [`\${{ '${'x'.repeat(21_001)}' }}`, 'fails'],
])('%j fails with a reason', (template, reason) => {
  expect(() => evaluate(template)).toThrow(reason)
})

test('all texts within a value are evaluated', () => {
  expect(evaluateAll({ a: [`\${{ github.n }}`, 1, { b: `\${{ github.ref }}` }] }, scope({ github }))).toEqual({
    a: [3, 1, { b: 'refs/heads/main' }],
  })
})

test('what was evaluated is not evaluated again', () => {
  const text = `\${{ secrets.TOKEN }} and \${{ '}}' }}`
  const escaped = escapeTemplate(text)
  expect(evaluateTemplate(escaped, scope())).toBe(text)
})
