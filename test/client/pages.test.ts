import { expect, test } from 'bun:test'
import { RefusedError } from '../../src/client/answer.ts'
import { everyItem, everyPage } from '../../src/client/pages.ts'

interface Options {
  query?: { page?: number; limit?: number; cursor?: string; state?: string }
}

/** A list whose pages come with these headers, and what it was asked. */
function list(pages: { items: readonly number[]; headers?: Record<string, string> }[]) {
  const asked: Options['query'][] = []
  const get = async (options: Options = {}) => {
    const { items, headers } = pages[asked.length] ?? { items: [] }
    asked.push(options.query)
    const response = new Response('', { headers })
    return { data: items, error: null, status: 200, headers: response.headers, response }
  }
  return { get, asked }
}

const link = (query: string) => ({ link: `<http://x/api/v1/y?${query}>; rel="next",<http://x/y?page=9>; rel="last"` })

test('links are followed, with the cursor that they have and the filter that was asked for', async () => {
  const { get, asked } = list([
    { items: [1, 2], headers: link('cursor=a%2Fb&limit=2&page=2') },
    { items: [3, 4], headers: link('limit=2&page=3') },
    { items: [5], headers: { link: '<http://x/y?page=1>; rel="first"', 'x-total-count': '99' } },
  ])
  const query = { limit: 2, state: 'open' }
  expect(await Array.fromAsync(everyItem(get, { query }))).toEqual([1, 2, 3, 4, 5])
  expect(asked).toEqual([
    { ...query, cursor: '' },
    { ...query, page: 2, cursor: 'a/b' },
    { ...query, page: 3, cursor: '' },
  ])
})

test('a list without links is read until all have come that it counts', async () => {
  const headers = { 'x-total-count': '5' }
  const { get, asked } = list([
    { items: [1, 2], headers },
    { items: [3, 4], headers },
    { items: [5], headers },
  ])
  expect(await Array.fromAsync(everyPage(get))).toEqual([[1, 2], [3, 4], [5]])
  expect(asked.map((query) => query?.page)).toEqual([undefined, 2, 3])
})

test('a list that shrinks meanwhile ends, and an empty one has no page', async () => {
  const headers = { 'x-total-count': '5' }
  const { get, asked } = list([
    { items: [1, 2], headers },
    { items: [], headers },
  ])
  expect(await Array.fromAsync(everyPage(get))).toEqual([[1, 2]])
  expect(asked.length).toBe(2)
  expect(await Array.fromAsync(everyPage(list([]).get))).toEqual([])
})

test('pages are asked for when they are wanted, and no sooner', async () => {
  const { get, asked } = list([{ items: [1, 2], headers: link('page=2') }, { items: [3] }])
  for await (const item of everyItem(get)) if (item === 2) break
  expect(asked.length).toBe(1)
})

test('a page that is refused throws what was said', async () => {
  const response = new Response('')
  const get = async (_?: Options) => ({
    ...{ data: null, status: 404, headers: response.headers, response },
    error: { status: 404, value: { message: 'not found' } },
  })
  const walk = Array.fromAsync(everyItem<number[], Options>(get))
  await expect(walk).rejects.toBeInstanceOf(RefusedError)
  await expect(walk).rejects.toMatchObject({ status: 404, value: { message: 'not found' }, message: '404: not found' })
})
