/** HTML that is put into other HTML as it is. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toString(): string {
    return this.text
  }
}

/** What may stand in a template. Texts and numbers are escaped; nothing is written for what is absent. */
export type HtmlValue = Html | string | number | undefined | null | false | readonly HtmlValue[]

/** A template whose values are escaped, unless they are HTML already. Attributes need their quotes. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let text = strings[0] ?? ''
  for (let index = 0; index < values.length; index += 1) text += write(values[index]) + (strings[index + 1] ?? '')
  return new Html(text)
}

/** For markup that this program has made itself. Whatever anybody has sent must never come here. */
export const raw = (markup: string): Html => new Html(markup)

function write(value: HtmlValue): string {
  if (value === undefined || value === null || value === false) return ''
  if (value instanceof Html) return value.text
  if (typeof value === 'object') return value.map(write).join('')
  return Bun.escapeHTML(String(value))
}

/** An address that somebody gave, for a link: escaping does not stop `javascript:`. Undefined for what is no page or mail address. */
export function safeUrl(given: string): string | undefined {
  const url = URL.parse(given)
  return url && /^(https?|mailto):$/.test(url.protocol) ? url.href : undefined
}
