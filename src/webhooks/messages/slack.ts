import { refByWhom, refUrl } from './describe.ts'
import type { Message } from './message.ts'
import { escapeText, type Link, subjectOf, type Words, written } from './words.ts'

/** A bar would end the address. */
const link = (text: string, url: string): string => `<${url.replace(/[<>|]/g, encodeURIComponent)}|${text}>`

const inSlack = (words: Words): string => written(words, { text: escapeText, link })

/** Body for a Slack incoming webhook. `settings`: channel, username, icon_url and color, as the hook has them. */
export function slackBody(message: Message, settings: Readonly<Record<string, string>>) {
  const attachment = attachmentOf(message, settings.color ?? '')
  return {
    channel: settings.channel ?? '',
    text: inSlack(sentence(message)),
    username: settings.username ?? '',
    icon_url: settings.icon_url ?? '',
    unfurl_links: 0,
    link_names: 0,
    attachments: attachment === undefined ? null : [{ fallback: '', ...attachment }],
  }
}

function sentence({ event, phrase, sender, saysSender, push }: Message): Words {
  const who: Link = { text: sender.login, url: sender.html_url }
  if (push) {
    const branch = { text: push.branch, url: event.type === 'push' ? refUrl(event.payload, 'branch') : '' }
    const count = { text: push.count, url: push.compareUrl }
    return ['[', push.repository, ':', branch, '] ', count, ` pushed by ${sender.login}`]
  }
  if (event.type === 'create' || event.type === 'delete') return refByWhom(event)
  return saysSender === 'never' ? phrase : [...phrase, ' by ', who]
}

function attachmentOf({ push, title, url, body, colour }: Message, ownColour: string) {
  if (push) {
    const line = ({ id, url, message, author }: (typeof push.commits)[number]) =>
      `${link(id.slice(0, 7), url)}: ${escapeText(`${subjectOf(message)} - ${author.name}`)}`
    const home = push.repository.url ?? ''
    return { color: ownColour, title: home, title_link: home, text: push.commits.map(line).join('\n') }
  }
  if (title === undefined || body === '') return undefined
  return { color: colour, title: escapeText(title), title_link: url, text: escapeText(body) }
}
