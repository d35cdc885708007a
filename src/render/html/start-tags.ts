import { ALLOWED, PLACES, VOID_ELEMENTS } from './allowed.ts'
import { safeAttribute } from './attributes.ts'
import { escapeHtml } from './escape.ts'
import type { Attribute } from './tokens.ts'

export interface TagOptions {
  /**
   * Wire: the family's plain mode leaves classes out. In its other modes they stay, a `script` element is shown as the text
   * that it is, and empty elements end in a slash.
   */
  isPlain?: boolean
  /** Resolves an address that has passed the check. */
  link?: (url: string) => string
  image?: (src: string) => { src: string; page: string }
}

/** What the lists say about an element. */
export interface Element {
  name: string
  allowed: ReadonlySet<string>
  place: { within: readonly string[]; ends: readonly string[] } | undefined
  isVoid: boolean
  isLink: boolean
  /** Text in it is not searched for references. */
  isVerbatim: boolean
  /** Whether and how it is shown depends on its attributes. */
  isJudged: boolean
}

export const ELEMENTS: ReadonlyMap<string, Element> = new Map(
  Array.from(ALLOWED, ([name, allowed]) => [
    name,
    {
      name,
      allowed,
      place: PLACES.get(name),
      isVoid: VOID_ELEMENTS.has(name),
      isLink: name === 'a',
      isVerbatim: name === 'code' || name === 'pre',
      isJudged: name === 'a' || name === 'img' || name === 'input',
    },
  ]),
)

/** The tag with those of its attributes that are allowed. */
export function startTag(element: Element, attributes: readonly Attribute[], options: TagOptions): string {
  return write(element, safeAttributes(element, attributes, options), options)
}

/**
 * The same for a link, an image or a box: empty for a link that leads nowhere and loses its tags; undefined for what is left
 * out.
 */
export function judgedTag(
  element: Element,
  attributes: readonly Attribute[],
  options: TagOptions & { isInLink: boolean },
): string | undefined {
  const values = safeAttributes(element, attributes, options)
  if (element.isLink) return finishLink(values, options) ? write(element, values, options) : ''
  if (element.name === 'img') return values.has('src') ? image(element, values, options) : undefined
  return values.has('type') ? write(element, values.set('disabled', ''), options) : undefined
}

function safeAttributes({ name, allowed }: Element, attributes: readonly Attribute[], { isPlain }: TagOptions) {
  const values = new Map<string, string>()
  for (const attribute of attributes) {
    if (!allowed.has(attribute.name) || values.has(attribute.name)) continue
    if (attribute.name === 'class' && isPlain) continue
    const value = safeAttribute(name, attribute.name, attribute.value)
    if (value !== undefined) values.set(attribute.name, value)
  }
  return values
}

function write({ name, isVoid }: Element, values: ReadonlyMap<string, string>, { isPlain }: TagOptions): string {
  let shown = `<${name}`
  for (const [key, value] of values) shown += ` ${key}="${escapeHtml(value)}"`
  return shown + (isVoid && !isPlain ? '/>' : '>')
}

/** Wire: a link that leads nowhere loses its tags; all others are marked for search engines. */
function finishLink(values: Map<string, string>, { link }: TagOptions): boolean {
  const href = values.get('href')
  if (href === undefined) return values.has('id')
  if (link && !values.has('data-markdown-generated-content')) values.set('href', link(href))
  values.set('rel', 'nofollow')
  return true
}

/** Wire: an image outside of a link becomes one to its page. */
function image(element: Element, values: Map<string, string>, options: TagOptions & { isInLink: boolean }): string {
  const resolved = options.image?.(values.get('src') ?? '')
  if (resolved === undefined) return write(element, values, options)
  const image = write(element, values.set('src', resolved.src).set('loading', 'lazy'), options)
  if (options.isInLink) return image
  return `<a href="${escapeHtml(resolved.page)}" target="_blank" rel="nofollow noopener">${image}</a>`
}
