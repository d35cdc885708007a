import { SWALLOWED } from './allowed.ts'
import { escapeHtml, unescapeHtml } from './escape.ts'
import { Output } from './output.ts'
import { ELEMENTS, type Element, judgedTag, startTag, type TagOptions } from './start-tags.ts'
import { readTokens, type Tag } from './tokens.ts'

export interface SanitizeOptions extends TagOptions {
  /** Turns text outside of links and code into HTML, for references; must escape, and no more than that where `findAll` finds nothing. */
  text?: (text: string) => string
}

/** Deeper elements lose their tags, not their text. Browsers stop nesting at 512. */
const MAX_DEPTH = 120

/**
 * The one door out of the renderer: HTML from anywhere in, HTML of listed elements and attributes out, every element closed,
 * every other character escaped. Each tag is made anew from the lists, and what stands there is copied only where it is the
 * same letter for letter, so what browsers read in broken HTML cannot differ from what was judged here. One pass: 0.2 ms for
 * 18 KB where sanitize-html took 1.6 ms, which leaves links and references to a second parser.
 */
export function sanitize(html: string, options: SanitizeOptions = {}): string {
  const writer = new Writer(html, options)
  readTokens(html, writer)
  return writer.finish()
}

class Writer {
  private readonly out: Output
  /** Text since the last tag that was written: where it begins if it is kept as it stands, or else itself. */
  private textFrom = -1
  private words = ''
  /** Open elements. One without its tags, such as a link that leads nowhere, is marked in `hidden`. */
  private readonly stack: Element[] = []
  private readonly hidden: boolean[] = []
  private readonly html: string
  private readonly options: SanitizeOptions
  /** Name and depth of the swallowed element that is being skipped. */
  private skipping = ''
  private skippedDepth = 0
  private links = 0
  private verbatim = 0

  constructor(html: string, options: SanitizeOptions) {
    this.html = html
    this.options = options
    this.out = new Output(html)
  }

  text(text: string): void {
    if (this.skipping !== '' && (this.skipping !== 'script' || this.options.isPlain)) return
    // A dropped tag between two pieces does not part them: "@al<x>ice" is one name.
    if (this.textFrom >= 0) this.words = unescapeHtml(this.out.takeBack(this.textFrom))
    this.textFrom = -1
    this.words += text
  }

  escapedText(from: number, to: number, mayRefer: boolean): void {
    const isMore = this.textFrom >= 0 || this.words !== ''
    if (isMore || this.skipping !== '' || (mayRefer && this.isSearched()))
      this.text(unescapeHtml(this.html.slice(from, to)))
    else {
      this.out.keep(from, to)
      this.textFrom = from
    }
  }

  tag(tag: Tag, from: number, to: number): void {
    if (this.skipping !== '') this.skip(tag, from, to)
    else if (tag.isEnd) this.close(tag, from, to)
    else this.open(tag, from, to)
  }

  finish(): string {
    this.flush()
    this.popTo(0)
    return this.out.finish()
  }

  private skip({ name, isEnd }: Tag, from: number, to: number): void {
    if (name !== this.skipping) return
    this.skippedDepth += isEnd ? -1 : 1
    if (this.skippedDepth > 0) return
    if (name === 'script') this.text(this.html.slice(from, to))
    this.skipping = ''
  }

  private open(tag: Tag, from: number, to: number): void {
    const element = ELEMENTS.get(tag.name)
    if (element !== undefined) {
      if (this.stack.length >= MAX_DEPTH || !this.makeRoom(element)) return
      this.flush()
      if (element.isJudged) this.judge(tag, element)
      else {
        tag.shown ??= startTag(element, tag.attributes, this.options)
        this.write(tag, from, to)
        if (!element.isVoid) this.push(element, false)
      }
    } else if (SWALLOWED.has(tag.name)) {
      this.skipping = tag.name
      this.skippedDepth = 1
      if (tag.name === 'script') this.text(this.html.slice(from, to))
    }
  }

  private judge(tag: Tag, element: Element): void {
    const shown = judgedTag(element, tag.attributes, { ...this.options, isInLink: this.links > 0 })
    if (shown === undefined) return
    this.out.write(shown)
    if (!element.isVoid) this.push(element, shown === '')
  }

  private close(tag: Tag, from: number, to: number): void {
    let at = this.stack.length - 1
    while (at >= 0 && this.stack[at]?.name !== tag.name) at--
    if (at < 0) return
    this.flush()
    this.popTo(at + 1)
    if (this.pop() === undefined) return
    tag.shown ??= `</${tag.name}>`
    this.write(tag, from, to)
  }

  /** What one tag became, the next that is written alike becomes too. */
  private write(tag: Tag, from: number, to: number): void {
    const { shown = '' } = tag
    tag.isKept ??= shown === this.html.slice(from, to)
    if (tag.isKept) this.out.keep(from, to)
    else this.out.write(shown)
  }

  /** Whether the element may stand here, after ending those that it ends. */
  private makeRoom({ isLink, place }: Element): boolean {
    if (isLink && this.links > 0) return false
    if (place === undefined) return true
    let ended = this.stack.length
    for (let at = this.stack.length - 1; at >= 0; at--) {
      const name = this.stack[at]?.name ?? ''
      if (place.within.includes(name)) {
        this.popTo(ended)
        return true
      }
      if (place.ends.includes(name)) ended = at
    }
    return false
  }

  private push(element: Element, isHidden: boolean): void {
    this.stack.push(element)
    this.hidden.push(isHidden)
    if (element.isLink && !isHidden) this.links++
    if (element.isVerbatim) this.verbatim++
  }

  private popTo(depth: number): void {
    if (this.stack.length > depth) this.flush()
    while (this.stack.length > depth) {
      const element = this.pop()
      if (element !== undefined) this.out.write(`</${element.name}>`)
    }
  }

  /** The innermost element, if it has tags. */
  private pop(): Element | undefined {
    const element = this.stack.pop()
    const isHidden = this.hidden.pop()
    if (element?.isVerbatim) this.verbatim--
    if (isHidden) return undefined
    if (element?.isLink) this.links--
    return element
  }

  private isSearched(): boolean {
    return this.options.text !== undefined && this.links === 0 && this.verbatim === 0
  }

  /** Ends the text that stands between two tags. */
  private flush(): void {
    this.textFrom = -1
    if (this.words === '') return
    this.out.write(this.options.text && this.isSearched() ? this.options.text(this.words) : escapeHtml(this.words))
    this.words = ''
  }
}
