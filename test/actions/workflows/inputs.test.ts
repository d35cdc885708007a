import { expect, test } from 'bun:test'
import { readDispatchInputs } from '../../../src/actions/workflows/inputs.ts'
import type { JsonRecord } from '../../../src/actions/workflows/json.ts'
import { read } from './support.ts'

const definitions = async () =>
  (
    await read(`on:
  workflow_dispatch:
    inputs:
      text: { type: string, default: hello }
      must: { required: true }
      flag: { type: boolean, default: true }
      level: { type: choice, options: [info, debug] }
      count: { type: number }
      where: { type: environment }
jobs:
  a: { runs-on: x, steps: [{ run: x }] }
`)
  ).on.inputs

const given = async (inputs: JsonRecord) => readDispatchInputs(await definitions(), inputs)

test('defaults stand for what is not given', async () => {
  expect(await given({ must: 'x' })).toEqual({
    inputs: { text: 'hello', must: 'x', flag: true, level: 'info', count: 0, where: '' },
  })
})

test('texts become what is declared, and names have no letter case', async () => {
  const sent = { text: '', MUST: 'x', flag: 'false', level: 'debug', count: '2.5', where: 'site' }
  expect(await given(sent)).toEqual({
    inputs: { text: '', must: 'x', flag: false, level: 'debug', count: 2.5, where: 'site' },
  })
  expect((await given({ must: 7, flag: false, count: 3 })).inputs).toMatchObject({ must: '7', flag: false, count: 3 })
})

test.each<[string, JsonRecord, string]>([
  ['a missing input', {}, 'The input `must` is required.'],
  ['an empty one', { must: '' }, 'The input `must` is required.'],
  ['an unknown one', { must: 'x', nothing: 'x' }, 'The workflow has no input `nothing`.'],
  ['a choice that is none', { must: 'x', level: 'loud' }, 'The input `level` has to be one of `info`, `debug`.'],
  ['a flag that is none', { must: 'x', flag: 'yes' }, 'The input `flag` has to be a boolean.'],
  ['a number that is none', { must: 'x', count: 'many' }, 'The input `count` has to be a number.'],
  ['an endless number', { must: 'x', count: 'Infinity' }, 'The input `count` has to be a number.'],
  ['a list', { must: ['x'] }, 'The input `must` has to be a string.'],
  ['half of a character', { must: '\ud800' }, 'The inputs hold a NUL, or half of a character.'],
  ['too long a text', { must: 'x'.repeat(65_536) }, 'The inputs have more than 65535 characters.'],
])('%s is refused', async (_, inputs, problem) => {
  expect(await given(inputs)).toEqual({ problems: [problem] })
})
