import { t } from 'elysia'
import type { Context } from '../context.ts'
import { type Page, type Paged, readPage } from '../kernel/page.ts'
import { type Html, html } from './html.ts'
import { addressOf } from './paths.ts'

export type { Page }

/** Rows of a list on one page for people: two lists with a form in each row still make a small page. */
const ROWS = 15

/** What the address of such a page may carry. */
export const pageNumber = { page: t.Optional(t.String({ maxLength: 10 })) }

export const pageOf = (query: { page?: string | undefined }): Page =>
  readPage({ page: query.page }, { defaultLimit: ROWS, maxLimit: ROWS })

/** Ways to the pages before and after; nothing where all is on one. */
export function pageLinks(
  context: Context,
  { path, label }: { path: string; label: string },
  list: { page: Page; total: Paged<unknown>['total'] },
): Html | false {
  const last = Math.max(1, Math.ceil(list.total / list.page.limit))
  const { number } = list.page
  const link = (to: number, text: string) => html`<a href="${addressOf(context, `${path}?page=${to}`)}">${text}</a>`
  return (
    last > 1 &&
    html`<nav aria-label="${label}"><p>${number > 1 && link(Math.min(number, last + 1) - 1, 'Back')} Page ${number} of ${last} ${
      number < last && link(number + 1, 'Next')
    }</p></nav>`
  )
}
