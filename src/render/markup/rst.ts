import { type RstDirective, type RstGeneratorState, RstToHtmlCompiler } from 'rst-compiler'
import { escapeHtml } from '../../kernel/html.ts'
import { highlight } from '../highlight.ts'

export interface RstOptions {
  isColoured: boolean
}

const CODE = ['code', 'code-block', 'sourcecode']

/** As the alerts of markdown are named. */
const ALERTS: Readonly<Record<string, string>> = {
  note: 'note',
  info: 'note',
  seealso: 'note',
  tip: 'tip',
  hint: 'tip',
  important: 'important',
  warning: 'warning',
  attention: 'warning',
  caution: 'caution',
  danger: 'caution',
  error: 'caution',
}

/** Directives about other files and raw HTML: nothing of them is shown. */
const LEFT_OUT = ['include', 'literalinclude', 'raw', 'meta', 'toctree', 'csv-table']

const QUIET = { disableWarnings: true, disableErrors: true }

/** reStructuredText, with Sphinx's names where they can be shown. A text that is none becomes preformatted. */
export function renderRst(source: string, { isColoured }: RstOptions): string {
  try {
    // The compiler measures indentation in spaces; docutils counts a tab as eight.
    const text = source.replace(/^ *\t+/gm, (indent) => indent.replace(/\t/g, ' '.repeat(8)))
    return compilerFor(text, isColoured).compile(text, QUIET, QUIET).body
  } catch (error) {
    if (error instanceof Error) return `<pre>${escapeHtml(source)}</pre>`
    throw error
  }
}

function compilerFor(source: string, isColoured: boolean): RstToHtmlCompiler {
  const compiler = new RstToHtmlCompiler()
  compiler.useDirectiveGenerator({
    directives: CODE,
    generate: (state, node) => state.writeLine(codeBlock(node, isColoured)),
  })
  compiler.useNodeGenerator({
    nodeType: 'InlineLiteral',
    generate: (state, node) => state.writeText(`<code>${escapeHtml(node.textContent)}</code>`),
  })
  compiler.useNodeGenerator({
    nodeType: 'LiteralBlock',
    generate: (state, node) => state.writeLine(`<pre>${escapeHtml(node.textContent)}</pre>`),
  })
  compiler.useDirectiveGenerator({ directives: Object.keys(ALERTS), generate: writeAlert })
  compiler.useDirectiveGenerator({ directives: LEFT_OUT, generate: () => undefined })
  // The compiler fails at an unknown name, such as that of an extension. Show the content instead.
  compiler.useDirectiveGenerator({
    directives: namesIn(source, /^\s*\.\. +([\w:+.-]+?)::/gm, compiler.directiveGenerators),
    generate: (state, node) => state.visitNodes(node.children),
  })
  compiler.useInterpretedTextGenerator({
    roles: namesIn(source, /:([\w:+.-]+):`/g, compiler.interpretedTextGenerators),
    generate: (state, node) => state.writeTextWithLinePrefix(`<code>${escapeHtml(node.textContent)}</code>`),
  })
  // Links to other documents have no target here.
  compiler.useInterpretedTextGenerator({
    roles: ['doc', 'ref', 'download', 'numref', 'any'],
    generate: (state, node) => state.writeTextWithLinePrefix(escapeHtml(node.textContent.replace(/\s*<[^<>]*>$/, ''))),
  })
  return compiler
}

function namesIn(source: string, pattern: RegExp, known: ReadonlyMap<string, unknown>): string[] {
  const names = Array.from(source.matchAll(pattern), ([, name = '']) => name.toLowerCase())
  return [...new Set(names)].filter((name) => !known.has(name))
}

function codeBlock({ rawBodyText = '', initContentText }: RstDirective, isColoured: boolean): string {
  const language = /^[\w+#.-]{1,40}$/.exec(initContentText)?.[0]?.toLowerCase() ?? ''
  const coloured = isColoured ? highlight(rawBodyText, language) : undefined
  const code = `<code class="language-${language}">${coloured ?? escapeHtml(rawBodyText)}</code>`
  return `<div class="code-block"><pre>${code}</pre></div>`
}

function writeAlert(state: RstGeneratorState, { directive, children }: RstDirective): void {
  const title = directive.charAt(0).toUpperCase() + directive.slice(1)
  state.writeLine(`<blockquote class="alert alert-${ALERTS[directive] ?? 'note'}">`)
  state.writeLine(`<p class="alert-title"><strong>${title}</strong></p>`)
  state.visitNodes(children)
  state.writeLine('</blockquote>')
}
