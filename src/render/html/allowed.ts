/** Every element and attribute that may leave the renderer. What is not listed here does not exist. */
export const VOID_ELEMENTS: ReadonlySet<string> = new Set(['br', 'hr', 'img', 'input', 'wbr'])

/** Gone together with what they hold: their content is not for readers, or is read by other rules than HTML's. */
// biome-ignore format: one name a line would hide the list
export const SWALLOWED: ReadonlySet<string> = new Set([
    'applet', 'audio', 'canvas', 'frameset', 'head', 'iframe', 'math', 'noembed', 'noframes', 'noscript', 'object', 'plaintext',
    'script', 'style', 'svg', 'template', 'textarea', 'title', 'video', 'xmp',
])

const EVERYWHERE = ['align', 'dir', 'id', 'lang', 'style', 'title', 'class', 'aria-label', 'aria-hidden']

const table = { cell: ['colspan', 'rowspan', 'valign', 'width', 'height', 'scope', 'headers', 'abbr'] }

/** Attributes of single elements, besides those allowed everywhere. */
const OWN_ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  a: ['href', 'data-markdown-generated-content'],
  img: ['src', 'alt', 'width', 'height', 'border', 'hspace', 'vspace', 'loading'],
  input: ['type', 'checked', 'disabled', 'data-source-position'],
  ol: ['start', 'type', 'reversed'],
  ul: ['type'],
  li: ['value', 'type'],
  table: ['width', 'border', 'cellpadding', 'cellspacing', 'summary'],
  td: table.cell,
  th: table.cell,
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

// biome-ignore format: one name a line would hide the list
const PLAIN_ELEMENTS = [
  'abbr', 'b', 'bdi', 'bdo', 'big', 'br', 'caption', 'center', 'cite', 'code', 'dd', 'dfn', 'div', 'dl', 'dt', 'em', 'figcaption',
  'figure', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'i', 'kbd', 'mark', 'p', 'pre', 'rp', 'rt', 'ruby', 's', 'samp', 'section',
  'small', 'span', 'strike', 'strong', 'sub', 'summary', 'sup', 'tbody', 'tfoot', 'thead', 'tt', 'u', 'var', 'wbr',
]

const named = [...PLAIN_ELEMENTS, ...Object.keys(OWN_ATTRIBUTES)]

/** Attributes by element. */
export const ALLOWED: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  named.map((name) => [name, new Set([...EVERYWHERE, ...(OWN_ATTRIBUTES[name] ?? [])])]),
)

/**
 * Elements that a browser moves or lets end others. They are dropped outside their parents, or a lone `<li>` in a comment would
 * end a list of the page around it; an open one of `ends` is closed before them.
 */
export const PLACES: ReadonlyMap<string, { within: readonly string[]; ends: readonly string[] }> = new Map([
  ['li', { within: ['ul', 'ol'], ends: ['li'] }],
  ['dt', { within: ['dl'], ends: ['dt', 'dd'] }],
  ['dd', { within: ['dl'], ends: ['dt', 'dd'] }],
  ['caption', { within: ['table'], ends: [] }],
  ['colgroup', { within: ['table'], ends: ['colgroup'] }],
  ['col', { within: ['table'], ends: ['col'] }],
  ['thead', { within: ['table'], ends: ['thead', 'tbody', 'tfoot'] }],
  ['tbody', { within: ['table'], ends: ['thead', 'tbody', 'tfoot'] }],
  ['tfoot', { within: ['table'], ends: ['thead', 'tbody', 'tfoot'] }],
  ['tr', { within: ['table'], ends: ['tr'] }],
  ['td', { within: ['table'], ends: ['td', 'th'] }],
  ['th', { within: ['table'], ends: ['td', 'th'] }],
])
