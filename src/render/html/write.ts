import { type ChildNode, type Element, isTag, isText } from 'domhandler'
import { escapeHtml } from '../../kernel/html.ts'

const VOID_ELEMENTS: ReadonlySet<string> = new Set(['br', 'col', 'hr', 'img', 'input', 'wbr'])

/**
 * Writes the tree of a sanitized text. Wire: the bytes are those of Go's html package. dom-serializer leaves `<` in attributes as it is,
 * or writes each letter outside of ASCII as a number.
 */
export function writeHtml(nodes: readonly ChildNode[], { isPlain }: { isPlain: boolean }): string {
  let written = ''
  for (const node of nodes) {
    if (isText(node)) written += escapeHtml(node.data)
    if (!isTag(node)) continue
    written += `<${node.name}${writeAttributes(node)}`
    if (VOID_ELEMENTS.has(node.name)) written += isPlain ? '>' : '/>'
    else written += `>${writeHtml(node.children, { isPlain })}</${node.name}>`
  }
  return written
}

const writeAttributes = ({ attribs }: Element): string =>
  Object.entries(attribs)
    .map(([name, value]) => ` ${name}="${escapeHtml(value)}"`)
    .join('')
