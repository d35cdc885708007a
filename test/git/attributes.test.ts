import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { ObjectFormat } from '../../src/git/model.ts'
import { codeOf, initialCommit, must, openStage, type Stage } from './stage.ts'

let stage: Stage
const names = ['one', 'two', 'binary']
const files = {
  '.gitattributes':
    '* one\n*.c two=yes -one\n/deep/** two=deep\n[attr]both one two=both\n"with space" both\n*.bin binary\n',
  'deep/.gitattributes': 'x.c two=deeper !one\n',
  'deep/x.c': 'x',
  'deep/y.c': 'y',
  'with space': 's',
  'new\nline': 'n',
  'a.bin': 'b',
  'ä.c': 'u',
}

beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

async function ask(id: number, format: ObjectFormat, content: Record<string, string>, timeoutMs?: number) {
  const initial = { ...initialCommit, files: Object.entries(content).map(([path, text]) => ({ path, content: text })) }
  await stage.git.createRepository(id, { objectFormat: format, defaultBranch: 'main', initialCommit: initial })
  const { entries } = await stage.git.readTree(id, { revision: 'main', isRecursive: true })
  const sources = entries.filter(({ name }) => name === '.gitattributes')
  const paths = entries.filter(({ kind }) => kind === 'file').map(({ path }) => path)
  return stage.git.readAttributes(id, { sources, names, paths }, { timeoutMs })
}

/** What git says in a work tree, where every version of it knows attributes. */
async function asInWorkTree(id: number): Promise<Record<string, Record<string, string>>> {
  const cwd = stage.work(`clone${id}`)
  await must(['clone', '-q', stage.folder(id), cwd])
  const paths = (await must(['ls-files', '-z'], cwd)).split('\0').filter(Boolean)
  const words = (await must(['check-attr', '-z', ...names, '--', ...paths], cwd)).split('\0')
  const said: Record<string, Record<string, string>> = {}
  for (let at = 0; at + 2 < words.length; at += 3) {
    const [path = '', name = '', value = ''] = words.slice(at, at + 3)
    if (value !== 'unspecified') said[path] = { ...said[path], [name]: value }
  }
  return said
}

const plain = (found: Map<string, Map<string, string>>) =>
  Object.fromEntries([...found].map(([path, values]) => [path, Object.fromEntries(values)]))

test.each([
  [1, 'sha1'],
  [2, 'sha256'],
] as const)('repository %d (%s) is told the attributes that a work tree is told', async (id, format) => {
  const found = plain(await ask(id, format, files))
  expect(found['deep/x.c']).toEqual({ two: 'deeper' })
  expect(found).toEqual(await asInWorkTree(id))
})

test('nothing is asked where nothing is said', async () => {
  expect(await ask(3, 'sha1', { 'a.c': 'x' })).toEqual(new Map())
})

test('patterns that take long are given up at the deadline', async () => {
  const pattern = (index: number) => `${'*a'.repeat(30)}${index} one\n`
  const hostile = Array.from({ length: 900 }, (_, index) => pattern(index)).join('')
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`${'a'.repeat(100)}${index}`, 'x']))
  const start = performance.now()
  expect(await codeOf(ask(4, 'sha1', { '.gitattributes': hostile, ...many }, 300))).toBe('timeout')
  expect(performance.now() - start).toBeLessThan(5000)
})
