import { parse } from 'papaparse'
import { escapeHtml } from '../../kernel/html.ts'

const MAX_ROWS = 5000
const MAX_CELLS = 50_000

/** A file of values between commas, semicolons, bars or tabs as a table with line numbers; its first line is the head. */
export function renderCsv(source: string, delimiter?: string): string {
  const { data } = parse(source.replace(/^\ufeff/, ''), {
    ...(delimiter === undefined ? { delimitersToGuess: [',', ';', '\t', '|'] } : { delimiter }),
    preview: MAX_ROWS,
    skipEmptyLines: true,
  })
  let cells = 0
  const rows: string[] = []
  for (const [index, row] of data.entries()) {
    cells += row.length
    if (cells > MAX_CELLS) break
    const tag = index === 0 ? 'th' : 'td'
    const values = row.map((value) => `<${tag}>${escapeHtml(value)}</${tag}>`).join('')
    rows.push(`<tr><${tag} class="line-num">${index + 1}</${tag}>${values}</tr>`)
  }
  return `<table class="data-table">${rows.join('')}</table>`
}
