import { expect, test } from 'bun:test'
import { followersOf } from '../../../src/actions/workflows/followers.ts'
import { read, withJobs } from './support.ts'

const INNER = '.gitea/workflows/inner.yml'
const plain = (id: string, needs = '') => `  ${id}: { needs: [${needs}], runs-on: x, steps: [{ run: x }] }\n`
const call = (id: string, needs = '') => `  ${id}: { needs: [${needs}], uses: ./${INNER} }\n`

const KEYS = ['a', 'b[0]', 'b[1]', 'call[0]/x', 'call[0]/y', 'call[1]/x', 'call[1]/y', 'c', 'alone']

async function followers(...again: string[]): Promise<string[]> {
  const workflow = await read(
    withJobs(plain('a') + plain('b', 'a') + call('call', 'b') + plain('c', 'call') + plain('alone')),
  )
  const inner = await read(`on: workflow_call\njobs:\n${plain('x')}${plain('y', 'x')}`, INNER)
  return [...followersOf({ workflow, called: { [INNER]: inner } }, KEYS, again)].sort()
}

test('what needs a job follows it, also through others and by its caller', async () => {
  expect(await followers('a')).toEqual(KEYS.filter((key) => key !== 'alone').sort())
  expect(await followers('alone')).toEqual(['alone'])
})

test('siblings of a matrix do not follow each other, what needs the matrix does', async () => {
  const called = KEYS.filter((key) => key.startsWith('call'))
  expect(await followers('b[1]')).toEqual(['b[1]', 'c', ...called].sort())
})

test('within a called workflow its own jobs follow, and outside what needs the caller', async () => {
  expect(await followers('call[0]/x')).toEqual(['c', 'call[0]/x', 'call[0]/y'])
  expect(await followers('call[1]/y')).toEqual(['c', 'call[1]/y'])
})
