import { Tokenizer } from 'htmlparser2'

export interface Attribute {
  /** Lower case. */
  name: string
  /** Character references resolved. */
  value: string
}

export interface TokenSink {
  /** The tag is written between the two offsets. */
  open(name: string, attributes: readonly Attribute[], from: number, to: number): void
  close(name: string, from: number, to: number): void
  /** Character references resolved; may come in several pieces. */
  text(text: string): void
}

/** Of most tags; never added to. */
const NONE: Attribute[] = []

/** A tag with more attributes than this is an attack; the rest are dropped. */
const MAX_ATTRIBUTES = 50

/**
 * Reads HTML as browsers do: the content of `script`, `style` and the like is text. Comments, declarations and a tag that
 * the text ends in are left out. Tells what stands there and repairs nothing; the sink must balance tags.
 */
export function readTokens(html: string, sink: TokenSink): void {
  let name = ''
  let start = 0
  let attributes = NONE
  let attribute: Attribute = { name: '', value: '' }
  const endTag = (end: number) => sink.open(name, attributes, start - 1, end + 1)
  const tokenizer = new Tokenizer(
    {},
    {
      ontext: (from, to) => sink.text(html.slice(from, to)),
      ontextentity: (codePoint) => sink.text(String.fromCodePoint(codePoint)),
      onopentagname(from, to) {
        name = html.slice(from, to).toLowerCase()
        start = from
        attributes = NONE
      },
      onattribname(from, to) {
        attribute = { name: html.slice(from, to).toLowerCase(), value: '' }
      },
      onattribdata(from, to) {
        attribute.value += html.slice(from, to)
      },
      onattribentity(codePoint) {
        attribute.value += String.fromCodePoint(codePoint)
      },
      onattribend() {
        if (attributes === NONE) attributes = [attribute]
        else if (attributes.length < MAX_ATTRIBUTES) attributes.push(attribute)
      },
      onopentagend: endTag,
      onselfclosingtag: endTag,
      onclosetag: (from, to) => sink.close(html.slice(from, to).toLowerCase(), from - 2, to + 1),
      oncdata() {},
      oncomment() {},
      ondeclaration() {},
      onprocessinginstruction() {},
      onend() {},
    },
  )
  tokenizer.write(html)
  tokenizer.end()
}
