import { expect, test } from 'bun:test'
import { cutPage, numberedPage, type Page } from '../../src/kernel/page.ts'

const second: Page = { number: 2, limit: 3, offset: 3 }

test.each<[rows: number, counted: number, total: number, why: string]>([
  [3, 9, 9, 'agree'],
  [3, 0, 6, 'rows have come since they were counted'],
  [3, 5, 6, 'and one of them fills the page'],
  [2, 9, 5, 'rows have gone, and the page ends the list'],
  [1, 0, 4, 'rows have come, and the page ends the list'],
  [0, 9, 3, 'rows have gone, and nothing is left for the page'],
  [0, 2, 2, 'the page lies beyond the end'],
])('%d rows of the second page with %d counted are %d in all: %s', (length, counted, total) => {
  const rows = Array.from({ length }, (_, at) => at)
  expect(numberedPage(second, { rows, total: counted })).toEqual({ rows, total })
  const cut = cutPage(second, { rows, total: counted }, (row) => [String(row)])
  expect([cut.total, cut.next !== undefined]).toEqual([total, total > 3 + length])
})

test('behind a position the count stands: nobody knows how many rows lie before', () => {
  const behind: Page = { ...second, after: ['7'] }
  expect(cutPage(behind, { rows: [8, 9], total: 9 }, (row) => [String(row)])).toEqual({ rows: [8, 9], total: 9 })
})
