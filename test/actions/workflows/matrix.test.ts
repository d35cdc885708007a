import { describe, expect, test } from 'bun:test'
import type { Json } from '../../../src/actions/workflows/json.ts'
import { expandMatrix } from '../../../src/actions/workflows/matrix.ts'
import { WorkflowError } from '../../../src/actions/workflows/problems.ts'

const valuesOf = (matrix: Json) => expandMatrix(matrix).map(({ values }) => values)

describe('what GitHub documents', () => {
  test('combinations come in the order of the file', () => {
    expect(valuesOf({ os: ['ubuntu', 'windows'], version: [10, 12] })).toEqual([
      { os: 'ubuntu', version: 10 },
      { os: 'ubuntu', version: 12 },
      { os: 'windows', version: 10 },
      { os: 'windows', version: 12 },
    ])
  })

  test('each entry of include is added where it changes no original value, and stands alone elsewhere', () => {
    const matrix: Json = {
      fruit: ['apple', 'pear'],
      animal: ['cat', 'dog'],
      include: [
        { color: 'green' },
        { color: 'pink', animal: 'cat' },
        { fruit: 'apple', shape: 'circle' },
        { fruit: 'banana' },
        { fruit: 'banana', animal: 'cat' },
      ],
    }
    expect(valuesOf(matrix)).toEqual([
      { fruit: 'apple', animal: 'cat', color: 'pink', shape: 'circle' },
      { fruit: 'apple', animal: 'dog', color: 'green', shape: 'circle' },
      { fruit: 'pear', animal: 'cat', color: 'pink' },
      { fruit: 'pear', animal: 'dog', color: 'green' },
      { fruit: 'banana' },
      { fruit: 'banana', animal: 'cat' },
    ])
  })

  test('include can expand a combination, and add one', () => {
    const matrix: Json = {
      os: ['windows-latest', 'ubuntu-latest'],
      node: [14, 16],
      include: [
        { os: 'windows-latest', node: 16, npm: 6 },
        { os: 'macos', node: 17 },
      ],
    }
    expect(valuesOf(matrix)).toContainEqual({ os: 'windows-latest', node: 16, npm: 6 })
    expect(valuesOf(matrix)).toHaveLength(5)
  })

  test('include alone is a list of jobs', () => {
    expect(valuesOf({ include: [{ site: 'production' }, { site: 'staging' }] })).toEqual([
      { site: 'production' },
      { site: 'staging' },
    ])
  })

  test('exclude takes away what has all its values, before include', () => {
    const matrix: Json = {
      os: ['macos', 'windows'],
      version: [12, 14, 16],
      environment: ['staging', 'production'],
      exclude: [
        { os: 'macos', version: 12, environment: 'production' },
        { os: 'windows', version: 16 },
      ],
    }
    expect(valuesOf(matrix)).toHaveLength(9)
    expect(valuesOf({ os: ['a', 'b'], exclude: [{ os: 'a' }], include: [{ os: 'a' }] })).toEqual([
      { os: 'b' },
      { os: 'a' },
    ])
  })
})

test('lists, mappings and null are values', () => {
  expect(
    valuesOf({ node: [{ version: 14 }, { version: 20, env: 'x' }], exclude: [{ node: { version: 14 } }] }),
  ).toEqual([{ node: { version: 20, env: 'x' } }])
  expect(valuesOf({ a: [[1, 2], null] })).toEqual([{ a: [1, 2] }, { a: null }])
})

test('a name shows the values of the matrix, and all of an entry that stands alone', () => {
  const matrix = {
    os: ['a'],
    include: [
      { os: 'a', extra: 1 },
      { os: 'b', extra: 2 },
    ],
  }
  expect(expandMatrix(matrix).map(({ shown }) => shown)).toEqual([['a'], ['b', 2]])
})

const many = (count: number) => Array.from({ length: count }, (_, index) => index)

test.each([
  ['text', 'text', 'The matrix is not a mapping.'],
  ['a text for a list', { os: 'a' }, '`os` of the matrix is not a list.'],
  ['an empty list', { os: [] }, '`os` of the matrix is an empty list.'],
  ['a text to include', { include: ['a'] }, '`include` of the matrix is not a list of mappings.'],
  ['257 combinations', { a: many(257) }, 'The matrix has more than 256 combinations.'],
  ['257 entries', { include: many(257).map((x) => ({ x })) }, 'The matrix has more than 256 combinations.'],
  [
    'a billion combinations',
    { a: many(1000), b: many(1000), c: many(1000) },
    'The matrix has more than 4096 combinations.',
  ],
])('%s is refused', (_, matrix, message) => {
  expect(() => expandMatrix(matrix)).toThrow(new WorkflowError(message))
})

test('256 combinations are not too many, also where exclude makes them so', () => {
  expect(expandMatrix({ a: many(16), b: many(16) })).toHaveLength(256)
  expect(expandMatrix({ a: many(17), b: many(16), exclude: [{ a: 0 }] })).toHaveLength(256)
})
