import { Tokenizer } from 'htmlparser2'
import { SWALLOWED } from './allowed.ts'

export interface Attribute {
  /** Lower case. */
  name: string
  /** Character references resolved. */
  value: string
}

/** Tags of one text that are written alike are the same object. */
export interface Tag {
  /** Lower case. */
  name: string
  isEnd: boolean
  attributes: readonly Attribute[]
  /** For the sink: what it makes of every tag that is written so, and whether that is how it is written. */
  shown?: string
  isKept?: boolean
}

/** What is told stands between the two offsets, where there are two. */
export interface TokenSink {
  tag(tag: Tag, from: number, to: number): void
  /** Character references resolved; may come in several pieces. */
  text(text: string): void
  /** Text that stands there as `escapeHtml` would write it, as most of it does; whether `findAll` may find something in it. */
  escapedText(from: number, to: number, mayRefer: boolean): void
}

/** Of most tags; never added to. */
const NONE: Attribute[] = []

/** A tag with more attributes than this is an attack; the rest are dropped. */
const MAX_ATTRIBUTES = 50

/** A power of two. */
const SLOTS = 512

/** Text that stands as `escapeHtml` would write it, and in which `findAll` finds nothing unless there is a `www.` in it. */
const PLAIN = /[^<&">@#!:[\d]*/y
const WWW = /www\./gi
const UNESCAPED = /[">]|&(?!(?:amp|lt|gt|#34);)/

/**
 * Reads HTML as browsers do: the content of `script`, `style` and the like is text. Comments, declarations and a tag that
 * the text ends in are left out. Tells what stands there and repairs nothing; the sink must balance tags.
 */
export function readTokens(html: string, sink: TokenSink): void {
  new Reader(html, sink).read()
}

/**
 * htmlparser2's tokenizer takes a step for every character, so it is asked about each way of writing a tag once: what a tag
 * outside of `script` and the like reads as depends on nothing but its own characters, and if it ended at the first `>` one
 * time, it does so each time.
 */
class Reader {
  /** The last tag of each slot. Cutting a tag out to look it up in a map takes twice the time of comparing it here. */
  private readonly known: ({ written: string; tag: Tag } | undefined)[] = new Array(SLOTS).fill(undefined)
  /** Where the next `www.` is, if it is known. */
  private www = -1
  private name = ''
  private nameFrom = 0
  private attributes = NONE
  private attribute: Attribute = { name: '', value: '' }
  /** What the tokenizer was given starts here in the text. */
  private base = 0
  /** Where the tokenizer was stopped, and the tag that it was stopped after if it had read nothing else. */
  private end = 0
  private only: Tag | undefined
  private readonly tokenizer: Tokenizer
  private readonly html: string
  private readonly sink: TokenSink

  constructor(html: string, sink: TokenSink) {
    this.html = html
    this.sink = sink
    this.tokenizer = new Tokenizer({}, this.callbacks())
  }

  read(): void {
    const { html, sink, known } = this
    let close = -1
    for (let at = 0; at < html.length; ) {
      const open = this.text(at)
      if (open === html.length) return
      if (close < open) close = html.indexOf('>', open)
      if (close < 0) close = html.length
      const slot = this.slotOf(open, close)
      const last = known[slot]
      if (last !== undefined && html.startsWith(last.written, open)) {
        at = close + 1
        sink.tag(last.tag, open, at)
      } else at = this.unknown(open, close, slot)
    }
  }

  /** Tells the text up to the next tag, and gives where that is. */
  private text(from: number): number {
    const { html, sink } = this
    PLAIN.lastIndex = from
    PLAIN.test(html)
    const plain = PLAIN.lastIndex
    if (plain === html.length || html.charCodeAt(plain) === 0x3c) {
      if (plain > from) sink.escapedText(from, plain, this.nextWww(from) < plain)
      return plain
    }
    const found = html.indexOf('<', plain)
    const to = found < 0 ? html.length : found
    const written = html.slice(from, to)
    if (!UNESCAPED.test(written)) sink.escapedText(from, to, true)
    else if (!written.includes('&')) sink.text(written)
    else this.tokenize(from, written)
    return to
  }

  private nextWww(from: number): number {
    if (this.www < from) {
      WWW.lastIndex = from
      this.www = WWW.test(this.html) ? WWW.lastIndex - 4 : Number.POSITIVE_INFINITY
    }
    return this.www
  }

  /** Tags that differ in length or in one of these letters are told apart. */
  private slotOf(open: number, close: number): number {
    const { html } = this
    const letters = (html.charCodeAt(open + 1) * 31 + html.charCodeAt(close - 1)) * 31 + html.charCodeAt(close - 2)
    return (letters * 31 + close - open) & (SLOTS - 1)
  }

  /** Reads up to the end of the next tag, and gives where that is. */
  private unknown(from: number, close: number, slot: number): number {
    this.only = undefined
    this.end = this.html.length
    this.tokenize(from, this.html.slice(from))
    if (this.only !== undefined && this.end === close + 1)
      this.known[slot] = { written: this.html.slice(from, close + 1), tag: this.only }
    return this.end
  }

  private tokenize(base: number, html: string): void {
    this.base = base
    this.tokenizer.reset()
    this.tokenizer.write(html)
    this.tokenizer.end()
  }

  /** After an end tag, or a start tag after which the rules stay the same. */
  private stopAfter(tag: Tag, from: number, end: number): void {
    this.stop(end)
    if (from === this.base) this.only = tag
  }

  private stop(end: number): void {
    this.tokenizer.pause()
    this.end = end
  }

  private finishStartTag(last: number): void {
    const { name, attributes, base } = this
    const tag: Tag = { name, attributes, isEnd: false }
    const [from, end] = [base + this.nameFrom - 1, base + last + 1]
    this.sink.tag(tag, from, end)
    // What follows such a tag may be read by other rules, up to its end tag.
    if (!SWALLOWED.has(name)) this.stopAfter(tag, from, end)
  }

  private finishEndTag(from: number, to: number): void {
    const name = this.slice(from, to).toLowerCase()
    const last = this.html.indexOf('>', this.base + to)
    const end = last < 0 ? this.html.length : last + 1
    const tag: Tag = { name, attributes: NONE, isEnd: true }
    this.sink.tag(tag, this.base + from - 2, end)
    this.stopAfter(tag, this.base + from - 2, end)
  }

  private slice(from: number, to: number): string {
    return this.html.slice(this.base + from, this.base + to)
  }

  private callbacks(): ConstructorParameters<typeof Tokenizer>[1] {
    const finishStartTag = (last: number) => this.finishStartTag(last)
    const endComment = (_: number, last: number) => this.stop(this.base + last + 1)
    return {
      ontext: (from, to) => {
        // Of some tags that the text ends in the tokenizer tells as text, from -1 on.
        if (from >= 0) this.sink.text(this.slice(from, to))
      },
      ontextentity: (codePoint) => this.sink.text(String.fromCodePoint(codePoint)),
      onopentagname: (from, to) => {
        this.name = this.slice(from, to).toLowerCase()
        this.nameFrom = from
        this.attributes = NONE
      },
      onattribname: (from, to) => {
        this.attribute = { name: this.slice(from, to).toLowerCase(), value: '' }
      },
      onattribdata: (from, to) => {
        this.attribute.value += this.slice(from, to)
      },
      onattribentity: (codePoint) => {
        this.attribute.value += String.fromCodePoint(codePoint)
      },
      onattribend: () => {
        if (this.attributes === NONE) this.attributes = [this.attribute]
        else if (this.attributes.length < MAX_ATTRIBUTES) this.attributes.push(this.attribute)
      },
      onopentagend: finishStartTag,
      onselfclosingtag: finishStartTag,
      onclosetag: (from, to) => this.finishEndTag(from, to),
      oncdata: endComment,
      oncomment: endComment,
      ondeclaration: endComment,
      onprocessinginstruction() {},
      onend() {},
    }
  }
}
