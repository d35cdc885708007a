import { type DefaultTreeAdapterTypes, defaultTreeAdapter, parse } from 'parse5'
import { ELEMENTS } from '../../src/render/html/allowed.ts'

type Node = DefaultTreeAdapterTypes.ChildNode
type Item = DefaultTreeAdapterTypes.Element

/** Pages around a text, and what stands in them. */
const FRAMES: readonly { before: string; after: string; shape: string }[] = [
  { before: '<ul><li>', after: '</li></ul>', shape: 'ul(li(div()))' },
  { before: '<dl><dd>', after: '</dd></dl>', shape: 'dl(dd(div()))' },
]

/**
 * What a page that shows rendered HTML would get to see besides what is allowed: other elements, handlers, addresses and ids, or content
 * that left its place in the page.
 */
export const faultsOf = (html: string): string[] => FRAMES.flatMap((frame) => faultsIn(frame, html))

function faultsIn(frame: (typeof FRAMES)[number], html: string): string[] {
  const faults: string[] = []
  const { isTextNode, isElementNode } = defaultTreeAdapter
  const elements = (nodes: readonly Node[]): Item[] => nodes.filter((node) => isElementNode(node))
  const shapeOf = (nodes: readonly Node[]): string =>
    elements(nodes)
      .map((item) => `${item.tagName}(${idOf(item) === 'box' ? '' : shapeOf(item.childNodes)})`)
      .join(' ')
  const visit = (item: Item) => {
    if (idOf(item) === 'box') visitShown(item.childNodes)
    else for (const inner of elements(item.childNodes)) visit(inner)
  }
  const visitShown = (nodes: readonly Node[]) => {
    for (const node of nodes) {
      if (!isElementNode(node)) {
        if (!isTextNode(node)) faults.push(`node ${node.nodeName}`)
        continue
      }
      if (!ELEMENTS.includes(node.tagName)) faults.push(`element ${node.tagName}`)
      for (const { name, value } of node.attrs) faults.push(...attributeFaults(name, value))
      visitShown(node.childNodes)
    }
  }
  const page = parse(
    `<!doctype html><html><head></head><body>${frame.before}<div id="box">${html}</div>${frame.after}<p></p></body></html>`,
  )
  const shape = shapeOf(page.childNodes)
  if (shape !== `html(head() body(${frame.shape} p()))`) faults.push(`the page became ${shape}`)
  for (const item of elements(page.childNodes)) visit(item)
  return faults
}

const idOf = (item: Item): string | undefined => item.attrs.find(({ name }) => name === 'id')?.value

function attributeFaults(name: string, value: string): string[] {
  if (/^on|^(?:srcdoc|srcset|formaction|name|ping|background|poster|form|is|slot)$/.test(name))
    return [`attribute ${name}`]
  if (name === 'target' && value !== '_blank') return [`target ${value}`]
  if (name === 'id' && !/^(?:user-content-|fn(?:ref\d*)?:user-content-)/.test(value)) return [`id ${value}`]
  if (name === 'class' && /\b(?:ui|btn|modal|flash-error|page-content|js-global-error)\b/.test(value))
    return [`class ${value}`]
  if (name === 'style' && /url|expression|position|[\\@{}]|\/\*|--/i.test(value)) return [`style ${value}`]
  if (!['href', 'src', 'cite'].includes(name)) return []
  // Browsers go nowhere from an address that they cannot read.
  if (!URL.canParse(value, 'http://page.invalid/')) return []
  const { protocol } = new URL(value, 'http://page.invalid/')
  return ['http:', 'https:', 'mailto:', 'ftp:'].includes(protocol) ? [] : [`address ${value}`]
}
