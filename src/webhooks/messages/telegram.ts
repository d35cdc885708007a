import type { Message } from './message.ts'
import { escapeHtml, trimmedMessage, written } from './words.ts'

/** https://core.telegram.org/bots/api#sendmessage: characters of a text, once its marks are read. */
const MAX_TEXT = 4096
/** What is said around a body, names and addresses included. */
const ROOM_FOR_MARKS = 1024

const link = (text: string, url: string): string => `<a href="${escapeHtml(url)}" rel="nofollow">${text}</a>`

/** Body for `sendMessage` of a Telegram bot. */
export function telegramBody(message: Message) {
  return { text: textOf(message), parse_mode: 'HTML', disable_web_page_preview: true }
}

function textOf({ event, phrase, push, sender, saysSender, body }: Message): string {
  const said = written(phrase, { text: escapeHtml, link })
  if (push) return joined([said, ...push.commits.map(commitLine)])
  const who = saysSender === 'always' ? ` by ${link(escapeHtml(sender.login), sender.html_url)}` : ''
  if (body === '' || event.type === 'release' || event.type === 'wiki') return `${said}${who}`
  const gap = event.type === 'issues' ? '\n\n' : '\n'
  return `${said}${who}${gap}${escapedTo(body, MAX_TEXT - ROOM_FOR_MARKS)}`
}

type Commit = NonNullable<Message['push']>['commits'][number]

const commitLine = ({ id, url, message, author }: Commit): string => {
  const text = escapedTo(trimmedMessage(message), ROOM_FOR_MARKS)
  return `[${link(id.slice(0, 7), url)}] ${text} - ${escapeHtml(author.name)}`
}

/** As many whole lines as a text may have. */
function joined(lines: readonly string[]): string {
  let text = ''
  for (const line of lines) {
    if (text.length + line.length + 1 > MAX_TEXT) break
    text += text === '' ? line : `\n${line}`
  }
  return text
}

/** Cut before it is escaped, so that no entity is cut in two. */
function escapedTo(text: string, length: number): string {
  const shown = text.length > length ? `${text.slice(0, length - 3).replace(/[\uD800-\uDBFF]$/, '')}...` : text
  return escapeHtml(shown)
}
