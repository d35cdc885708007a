/** Something named in a message. Without an address it is only named. */
export interface Link {
  text: string
  url?: string
}

/** A sentence whose names are links where the receiver shows links. */
export type Words = readonly (string | Link)[]

/** The sentence without its links. */
export const plain = (words: Words): string =>
  words.map((word) => (typeof word === 'string' ? word : word.text)).join('')

/** Writes the sentence in a language of its own: `text` for what stands there, `link` for a name with its address. */
export function written(
  words: Words,
  { text, link }: { text(text: string): string; link(text: string, url: string): string },
): string {
  const write = (word: string | Link) => {
    if (typeof word === 'string') return text(word)
    return word.url === undefined || word.url === '' ? text(word.text) : link(text(word.text), word.url)
  }
  return words.map(write).join('')
}

/** What stands between tags. https://api.slack.com/messaging/webhooks, "Formatting text": Slack too escapes these three, and no others. */
export const escapeText = (text: string): string =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')

export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
}

/** At most `length` UTF-16 units, the last of them dots where something was cut. Never cuts a character in two. */
export function shortened(text: string, length: number): string {
  if (text.length <= length) return text
  return `${text.slice(0, length - 3).replace(/[\uD800-\uDBFF]$/, '')}...`
}

/** First line of a commit's message. */
export const subjectOf = (message: string): string => message.split('\n', 1)[0]?.trimEnd() ?? ''

/** A commit's message without the line breaks at its end. */
export const trimmedMessage = (message: string): string => message.replace(/[\r\n]+$/, '')

/** Short name of a ref: `refs/heads/a/b` is `a/b`. */
export const shortRef = (ref: string): string => ref.replace(/^refs\/(?:heads|tags)\//, '')

/** Each part of a path escaped for an address. */
export const escapedPath = (path: string): string => path.split('/').map(encodeURIComponent).join('/')
