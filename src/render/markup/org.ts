import { parse } from 'orga'
import { escapeHtml } from '../../kernel/html.ts'
import { highlight } from '../highlight.ts'
import { schemeOf } from '../html/urls.ts'

/** What is read of a node of orga's tree; each kind has only some of it. */
interface Node {
  type: string
  children?: Node[]
  value?: string
  style?: string
  level?: number
  name?: string
  ordered?: boolean
  params?: string[]
  keyword?: string
  label?: string
  path?: { protocol?: string; value: string }
}

const MAX_DEPTH = 50
const STYLES: Readonly<Record<string, string>> = {
  bold: 'b',
  italic: 'em',
  underline: 'u',
  strikeThrough: 'del',
  verbatim: 'code',
  code: 'code',
}

/** Org mode. Wire: first a list of the headings, then the text with headings one level down, each section in a container. */
export function renderOrg(source: string, { isColoured }: { isColoured: boolean }): string {
  const state: State = { headlines: [], depth: 0, isColoured }
  // The parser takes time with the square of the length (32 KB: 2.3 s), so it gets one heading with its text at a time.
  const parts = source.split(/^(?=\*+ )/m)
  const body = parts.map((part) => children({ type: 'document', children: nodesOf(parse(part)) }, state)).join('')
  return outline(state.headlines) + body
}

interface State {
  headlines: { level: number; html: string }[]
  depth: number
  isColoured: boolean
}

/** Checks the library's tree: it is made from text of users, and its types may promise too much. */
function nodesOf(document: unknown): Node[] {
  const isParent = typeof document === 'object' && document !== null && 'children' in document
  return isParent && Array.isArray(document.children) ? document.children.filter(isNode) : []
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

function children(node: Node, state: State): string {
  if (state.depth > MAX_DEPTH) return ''
  const inner = { ...state, depth: state.depth + 1 }
  return (node.children ?? []).map((child) => (isNode(child) ? present(child, inner) : '')).join('')
}

function present(node: Node, state: State): string {
  switch (node.type) {
    case 'section':
      return section(node, state)
    case 'paragraph':
      return `<p dir="auto">${children(node, state).trim()}</p>\n`
    case 'text':
      return styled(node)
    case 'newline':
      return '\n'
    case 'list':
      return node.ordered ? `<ol>\n${children(node, state)}</ol>\n` : `<ul>\n${children(node, state)}</ul>\n`
    case 'list.item':
      return `<li>${children(node, state).trim()}</li>\n`
    case 'block':
      return block(node, state)
    case 'link':
      return link(node, state)
    case 'table':
      return table(node, state)
    case 'hr':
      return '<hr>\n'
    case 'latex':
      return `<code class="language-math">${escapeHtml(node.value ?? '')}</code>`
    case 'footnote.reference':
      return `<sup>${escapeHtml(node.label ?? '')}</sup>`
    case 'opening':
    case 'closing':
    case 'stars':
    case 'tags':
    case 'todo':
    case 'priority':
    case 'keyword':
    case 'drawer':
    case 'planning':
    case 'link.path':
    case 'list.item.bullet':
    case 'footnote.label':
      return ''
    default:
      return node.children ? children(node, state) : escapeHtml(node.value ?? '')
  }
}

function section(node: Node, state: State): string {
  const [headline, ...rest] = node.children ?? []
  if (headline?.type !== 'headline') return children(node, state)
  const title = `${headline.keyword ? `${escapeHtml(headline.keyword)} ` : ''}${children(headline, state)}`.trim()
  const level = Math.min(headline.level ?? 1, 5)
  state.headlines.push({ level, html: title })
  const id = `headline-${state.headlines.length}`
  const body = children({ type: 'section', children: rest }, state)
  const tag = `h${level + 1}`
  return `<div id="outline-container-${id}">\n<${tag} id="${id}">\n${title}\n</${tag}>\n${body}</div>\n`
}

/** Levels that are left out, as from one star to three, count as one step. */
function outline(headlines: { level: number; html: string }[]): string {
  let html = ''
  const levels: number[] = []
  for (const [index, { level, html: title }] of headlines.entries()) {
    while (levels.length > 0 && (levels.at(-1) ?? 0) > level) {
      html += '</li>\n</ul>\n'
      levels.pop()
    }
    if (levels.at(-1) === level) html += '</li>\n'
    else {
      html += '<ul>\n'
      levels.push(level)
    }
    html += `<li><a href="#headline-${index + 1}">${title.replace(/<\/?a\b[^>]*>/g, '')}</a>\n`
  }
  return html + '</li>\n</ul>\n'.repeat(levels.length)
}

function styled({ value = '', style = '' }: Node): string {
  const tag = STYLES[style]
  return tag ? `<${tag}>${escapeHtml(value)}</${tag}>` : escapeHtml(value)
}

function block({ name = '', value = '', params = [] }: Node, { isColoured }: State): string {
  const text = escapeHtml(value)
  switch (name.toLowerCase()) {
    case 'src': {
      const language = /^[\w+#.-]{1,40}$/.exec(params[0] ?? '')?.[0]?.toLowerCase() ?? ''
      const coloured = isColoured ? highlight(value, language) : undefined
      return `<div class="code-block"><pre><code class="language-${language}">${coloured ?? text}</code></pre></div>\n`
    }
    case 'quote':
      return `<blockquote>\n<p dir="auto">${text}</p>\n</blockquote>\n`
    case 'html':
    case 'export':
    case 'comment':
      return ''
    default:
      return `<pre>${text}</pre>\n`
  }
}

function link(node: Node, state: State): string {
  const target = node.path?.value ?? ''
  const inner = children(node, state)
  if (inner === '' && /\.(?:png|jpe?g|gif|svg|webp|avif)$/i.test(target))
    return `<img src="${escapeHtml(target)}" alt="${escapeHtml(target)}">`
  const href = target.startsWith('*') || schemeOf(target) === undefined ? target.replace(/^file:/, '') : target
  return `<a href="${escapeHtml(href)}">${inner === '' ? escapeHtml(target) : inner}</a>`
}

function table(node: Node, state: State): string {
  const rows = (node.children ?? []).filter(isNode)
  const ruleAt = rows.findIndex((row) => row.type === 'table.hr')
  const cells = rows
    .map((row, index) => ({ row, tag: index < ruleAt ? 'th' : 'td' }))
    .filter(({ row }) => row.type === 'table.row')
    .map(({ row, tag }) => {
      const values = (row.children ?? []).filter((cell) => cell.type === 'table.cell')
      return `<tr>\n${values.map((cell) => `<${tag}>${children(cell, state).trim()}</${tag}>\n`).join('')}</tr>\n`
    })
  return `<table>\n${cells.join('')}</table>\n`
}
