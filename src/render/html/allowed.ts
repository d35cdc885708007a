import type { IOptions, Transformer } from 'sanitize-html'
import { cleanUrl, IMAGE_SCHEMES, LINK_SCHEMES } from './urls.ts'

// biome-ignore format: one name a line would hide the list
const PLAIN_ELEMENTS = [
  'abbr', 'b', 'bdi', 'bdo', 'big', 'br', 'caption', 'center', 'cite', 'code', 'dd', 'dfn', 'div', 'dl', 'dt', 'em', 'figcaption',
  'figure', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'i', 'kbd', 'mark', 'p', 'pre', 'rp', 'rt', 'ruby', 's', 'samp', 'section',
  'small', 'span', 'strike', 'strong', 'sub', 'summary', 'sup', 'tbody', 'tfoot', 'thead', 'tt', 'u', 'var', 'wbr',
]

const CELL = ['colspan', 'rowspan', 'valign', 'width', 'height', 'scope', 'headers', 'abbr']

type Attributes = Exclude<NonNullable<IOptions['allowedAttributes']>, false>

/** Attributes of single elements. */
const ATTRIBUTES: Attributes = {
  a: ['href'],
  img: ['src', 'alt', 'width', 'height', 'border', 'hspace', 'vspace', 'loading'],
  input: ['type', 'checked', 'disabled', 'data-source-position'],
  ol: ['start', 'type', 'reversed'],
  ul: ['type'],
  li: ['value', 'type'],
  table: ['width', 'border', 'cellpadding', 'cellspacing', 'summary'],
  td: CELL,
  th: CELL,
  tr: ['valign'],
  col: ['span', 'width'],
  colgroup: ['span', 'width'],
  details: ['open'],
  blockquote: ['cite'],
  q: ['cite'],
  del: ['cite', 'datetime'],
  ins: ['cite', 'datetime'],
  time: ['datetime'],
}

/** Every element that may leave the renderer. */
export const ELEMENTS: readonly string[] = [...PLAIN_ELEMENTS, ...Object.keys(ATTRIBUTES)]

/** Dropped together with what they hold: it is not for readers, or is read by other rules than HTML's. */
// biome-ignore format: one name a line would hide the list
const DROPPED = [
  'applet', 'audio', 'canvas', 'frameset', 'head', 'iframe', 'math', 'noembed', 'noframes', 'noscript', 'object', 'plaintext',
  'script', 'style', 'svg', 'template', 'textarea', 'title', 'video', 'xmp',
]

/** Names that our own output uses. With any other class a text could look like a part of the page. */
const CLASSES =
  /^(?:language-[\w+#.-]{1,40}|hljs(?:-[\w-]{1,40})?|[a-z]+_|display|(?:code-block|alert|footnotes|task-list|front-matter)(?:-[a-z]+)?|data-table|line-num|emoji|ref-issue|commit|mention)$/

const COLOR = /^(?:[a-z]{3,20}|#[0-9a-f]{3,8}|(?:rgb|hsl)a?\([\d\s.,%/-]{1,40}\))$/i
const LENGTH = /^(?:auto|\d{1,4}(?:\.\d{1,2})?(?:px|em|rem|%))$/i

/** Before the addresses are judged: cleaned afterwards, a harmless one could become a script. */
const cleanAddress =
  (name: 'href' | 'src'): Transformer =>
  (tagName, attribs) => {
    const url = attribs[name]
    return { tagName, attribs: url === undefined ? attribs : { ...attribs, [name]: cleanUrl(url) } }
  }

/** Wire: the plain mode leaves classes out. */
export const PLAIN: IOptions = {
  allowedTags: [...ELEMENTS],
  nonTextTags: DROPPED,
  allowedAttributes: {
    ...ATTRIBUTES,
    '*': ['align', 'dir', 'id', 'lang', 'style', 'title', 'aria-label', 'aria-hidden'],
  },
  transformTags: { a: cleanAddress('href'), img: cleanAddress('src') },
  allowedSchemes: [...LINK_SCHEMES],
  allowedSchemesByTag: { img: [...IMAGE_SCHEMES] },
  allowedSchemesAppliedToAttributes: ['href', 'src', 'cite'],
  allowedStyles: {
    '*': {
      color: [COLOR],
      'background-color': [COLOR],
      'text-align': [/^(?:left|right|center|justify)$/i],
      'vertical-align': [/^(?:top|middle|bottom|baseline)$/i],
      width: [LENGTH],
      height: [LENGTH],
    },
  },
  // Deeper elements lose their tags, not their text. Browsers stop nesting at 512.
  nestingLimit: 120,
}

export const WITH_CLASSES: IOptions = { ...PLAIN, allowedClasses: { '*': [CLASSES] } }
