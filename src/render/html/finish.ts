import { type ChildNode, Element, isTag, isText, Text } from 'domhandler'

export interface FinishOptions {
  /** Resolves an address. */
  link?: (url: string) => string
  image?: (src: string) => { src: string; page: string }
  /** Makes links of references in text outside of links and code. */
  text?: (text: string) => ChildNode[]
}

const ROWS = ['thead', 'tbody', 'tfoot']
const inTable = { parents: ['table'], among: ['table', 'caption', 'colgroup', ...ROWS, 'tr', 'td', 'th'] }

/**
 * Elements that a browser ends or moves by the open elements around them: the nearest `among` those has to be one of `parents`, or the
 * element loses its tags. Otherwise the next `<li>` would end an open one with all that stands between, and the end tags of a text would
 * close elements of the page around it.
 */
const PLACES: ReadonlyMap<string, { parents: readonly string[]; among: readonly string[] }> = new Map([
  ['li', { parents: ['ul', 'ol'], among: ['ul', 'ol', 'li'] }],
  ['dt', { parents: ['dl'], among: ['dl', 'dt', 'dd'] }],
  ['dd', { parents: ['dl'], among: ['dl', 'dt', 'dd'] }],
  ['caption', inTable],
  ['colgroup', inTable],
  ['col', { ...inTable, parents: ['table', 'colgroup'] }],
  ['thead', inTable],
  ['tbody', inTable],
  ['tfoot', inTable],
  ['tr', { ...inTable, parents: ['table', ...ROWS] }],
  ['td', { ...inTable, parents: ['table', ...ROWS, 'tr'] }],
  ['th', { ...inTable, parents: ['table', ...ROWS, 'tr'] }],
])

/** Makes what a sanitizer cannot know of: addresses, marks of links, ids, references in text. Takes sanitized nodes and changes them. */
export function finishNodes(nodes: readonly ChildNode[], options: FinishOptions): ChildNode[] {
  return new Finisher(options).finish(nodes)
}

class Finisher {
  /** Names of the open elements. */
  private readonly open: string[] = []
  private readonly options: FinishOptions

  constructor(options: FinishOptions) {
    this.options = options
  }

  /** Text around a tag that is left out is one text: "@al<x>ice" is one name. */
  finish(nodes: readonly ChildNode[]): ChildNode[] {
    const finished: ChildNode[] = []
    let words = ''
    const flush = () => {
      if (words !== '') finished.push(...this.text(words))
      words = ''
    }
    const visit = (children: readonly ChildNode[]) => {
      for (const node of children) {
        if (isText(node)) words += node.data
        if (!isTag(node)) continue
        const shown = this.element(node)
        if (shown === 'without tags') visit(node.children)
        else {
          flush()
          if (shown !== 'dropped') finished.push(shown)
        }
      }
    }
    visit(nodes)
    flush()
    return finished
  }

  private text(value: string): ChildNode[] {
    const isSearched = !['a', 'code', 'pre'].some((name) => this.open.includes(name))
    return this.options.text && isSearched ? this.options.text(value) : [new Text(value)]
  }

  private element(node: Element): Element | 'without tags' | 'dropped' {
    const { name, attribs } = node
    if (!this.isInPlace(name)) return 'without tags'
    if (attribs.id !== undefined) attribs.id = prefixId(attribs.id)
    // Wire: sanitize-html writes no spaces. No value that it lets through has one of these signs.
    if (attribs.style) attribs.style = attribs.style.replaceAll(':', ': ').replaceAll(';', '; ')
    if (name === 'input') return box(node)
    if (name === 'img') return this.image(node)
    if (name === 'a' && !this.link(node)) return 'without tags'
    this.open.push(name)
    node.children = this.finish(node.children)
    this.open.pop()
    return node
  }

  private isInPlace(name: string): boolean {
    const place = PLACES.get(name)
    return (
      place === undefined || place.parents.includes(this.open.findLast((outer) => place.among.includes(outer)) ?? '')
    )
  }

  /** Wire: a link that leads nowhere loses its tags; all others are marked for search engines. */
  private link({ attribs }: Element): boolean {
    if (this.open.includes('a')) return false
    if (attribs.href === undefined) return attribs.id !== undefined
    attribs.href = this.options.link?.(attribs.href) ?? attribs.href
    attribs.rel = 'nofollow'
    return true
  }

  /** Wire: an image outside of a link becomes one to its page. */
  private image(node: Element): Element | 'dropped' {
    if (node.attribs.src === undefined) return 'dropped'
    const resolved = this.options.image?.(node.attribs.src)
    if (resolved === undefined) return node
    node.attribs.src = resolved.src
    node.attribs.loading = 'lazy'
    if (this.open.includes('a')) return node
    return new Element('a', { href: resolved.page, target: '_blank', rel: 'nofollow noopener' }, [node])
  }
}

/** Boxes of tasks are the only fields. */
function box(node: Element): Element | 'dropped' {
  if (node.attribs.type?.toLowerCase() !== 'checkbox') return 'dropped'
  node.attribs.disabled = ''
  return node
}

/** Ids share one name space with the page's own and become properties of `document`: each gets a prefix. */
const prefixId = (id: string): string =>
  /^(?:user-content-|fn(?:ref\d*)?:user-content-)/.test(id) ? id : `user-content-${id}`
