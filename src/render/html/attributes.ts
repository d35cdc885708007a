import { safeUrl } from './urls.ts'

/** The value to write for an attribute that is on the list; undefined leaves it out. */
type Check = (value: string, element: string) => string | undefined

const onlyIf =
  (pattern: RegExp): Check =>
  (value) =>
    pattern.test(value) ? value : undefined

const anyText: Check = (value) => value
const flag: Check = () => ''
const size = onlyIf(/^\d{1,4}(?:px|%)?$/)
const wholeNumber = onlyIf(/^-?\d{1,9}$/)
const words = onlyIf(/^[\w \t.:-]{1,100}$/)

/** Names that our own output uses; a class from user text could otherwise dress up as part of the page. */
const CLASSES =
  /^(?:language-[\w+#.-]{1,40}|hljs(?:-[\w-]{1,40})?|[a-z]+_|display|(?:code-block|alert|footnotes|task-list|front-matter)(?:-[a-z]+)?|data-table|line-num|emoji|ref-issue|commit|mention)$/

const CHECKS: Readonly<Record<string, Check>> = {
  align: onlyIf(/^(?:left|right|center|justify|top|middle|bottom)$/i),
  valign: onlyIf(/^(?:top|middle|bottom|baseline)$/i),
  dir: onlyIf(/^(?:auto|ltr|rtl)$/i),
  lang: onlyIf(/^[a-z\d-]{1,35}$/i),
  id: prefixId,
  class: (value) =>
    value
      .split(/\s+/)
      .filter((name) => CLASSES.test(name))
      .join(' ') || undefined,
  style: safeStyle,
  title: anyText,
  alt: anyText,
  abbr: anyText,
  summary: anyText,
  'aria-label': anyText,
  'aria-hidden': onlyIf(/^(?:true|false)$/),
  href: (value) => safeUrl(value, 'link'),
  src: (value) => safeUrl(value, 'image'),
  cite: (value) => safeUrl(value, 'link'),
  width: size,
  height: size,
  border: size,
  hspace: size,
  vspace: size,
  cellpadding: size,
  cellspacing: size,
  colspan: onlyIf(/^\d{1,3}$/),
  rowspan: onlyIf(/^\d{1,3}$/),
  span: onlyIf(/^\d{1,3}$/),
  start: wholeNumber,
  value: wholeNumber,
  scope: onlyIf(/^(?:row|col|rowgroup|colgroup)$/i),
  headers: words,
  datetime: words,
  type: (value, element) =>
    element === 'input'
      ? onlyIf(/^checkbox$/i)(value, element)
      : onlyIf(/^(?:[1aAiI]|disc|circle|square)$/)(value, element),
  loading: onlyIf(/^lazy$/),
  checked: flag,
  disabled: flag,
  open: flag,
  reversed: flag,
  'data-source-position': wholeNumber,
  'data-markdown-generated-content': flag,
}

/** Judges one attribute. The caller has looked up that the element may have it at all. */
export function safeAttribute(element: string, name: string, value: string): string | undefined {
  return CHECKS[name]?.(value, element)
}

/** Ids share one name space with the page's own and become properties of `document`: each gets a prefix. */
function prefixId(id: string): string | undefined {
  if (!/^[^\s"'<>&]{1,200}$/.test(id)) return undefined
  return /^(?:user-content-|fn(?:ref\d*)?:user-content-)/.test(id) ? id : `user-content-${id}`
}

const COLOR = /^(?:[a-z]{3,20}|#[0-9a-f]{3,8}|(?:rgb|hsl)a?\([\d\s.,%/-]{1,40}\))$/i
const LENGTH = /^(?:auto|\d{1,4}(?:\.\d{1,2})?(?:px|em|rem|%))$/i
const STYLES: Readonly<Record<string, RegExp>> = {
  color: COLOR,
  'background-color': COLOR,
  'text-align': /^(?:left|right|center|justify)$/i,
  'vertical-align': /^(?:top|middle|bottom|baseline)$/i,
  width: LENGTH,
  height: LENGTH,
}

function safeStyle(style: string): string | undefined {
  const kept: string[] = []
  for (const declaration of style.slice(0, 1000).split(';')) {
    const colon = declaration.indexOf(':')
    const property = declaration.slice(0, colon).trim().toLowerCase()
    const value = declaration.slice(colon + 1).trim()
    if (Object.hasOwn(STYLES, property) && STYLES[property]?.test(value)) kept.push(`${property}: ${value}`)
  }
  return kept.length === 0 ? undefined : kept.join('; ')
}
