import { parse } from 'yaml'
import { escapeHtml } from '../../kernel/html.ts'

const FENCED = /^---[ \t]*\n([\s\S]{0,16384}?)\n---[ \t]*(?:\n|$)/
const MAX_DEPTH = 4
const MAX_KEYS = 100

/** Takes a YAML head off a text and gives it as a folded table; `head` is empty when the text has none. */
export function splitFrontMatter(source: string): { head: string; body: string } {
  if (!source.startsWith('---')) return { head: '', body: source }
  const match = FENCED.exec(source)
  const values = match?.[1] === undefined ? undefined : readYaml(match[1])
  if (match === null || values === undefined) return { head: '', body: source }
  const title = Object.keys(values).slice(0, MAX_KEYS).join(', ')
  const head = `<details class="front-matter"><summary>${escapeHtml(title)}</summary>${table(values, 0)}</details>`
  return { head, body: source.slice(match[0].length) }
}

function readYaml(text: string): Record<string, unknown> | undefined {
  try {
    const values: unknown = parse(text, { maxAliasCount: 20, logLevel: 'error' })
    return isRecord(values) && Object.keys(values).length > 0 ? values : undefined
  } catch {
    // Not YAML: then it is two rules with text between them, as markdown says.
    return undefined
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function table(values: Record<string, unknown>, depth: number): string {
  const entries = Object.entries(values).slice(0, MAX_KEYS)
  const heads = entries.map(([key]) => `<th>${escapeHtml(key)}</th>\n`).join('')
  const cells = entries.map(([, value]) => `<td>${cell(value, depth + 1)}</td>\n`).join('')
  return `<table>\n<thead>\n<tr>\n${heads}</tr>\n</thead>\n<tbody>\n<tr>\n${cells}</tr>\n</tbody>\n</table>\n`
}

function cell(value: unknown, depth: number): string {
  if (depth > MAX_DEPTH) return ''
  if (value instanceof Date) return escapeHtml(value.toISOString())
  if (Array.isArray(value)) {
    const rows = value.slice(0, MAX_KEYS).map((item) => `<tr>\n<td>${cell(item, depth + 1)}</td>\n</tr>\n`)
    return `<table>\n<tbody>\n${rows.join('')}</tbody>\n</table>\n`
  }
  if (isRecord(value)) return table(value, depth)
  return value === null || value === undefined ? '' : escapeHtml(String(value))
}
