import { refByWhom, refUrl } from './describe.ts'
import type { Message, PushPart } from './message.ts'
import { escapeHtml, escapeText, type Link, type Words, written } from './words.ts'

const asIs = (text: string): string => text

const inMarkdown = (words: Words): string => written(words, { text: asIs, link: (text, url) => `[${text}](${url})` })

const inHtml = (words: Words): string =>
  written(words, { text: escapeText, link: (text, url) => `<a href="${escapeHtml(url)}">${text}</a>` })

/** An event of a Matrix room (https://spec.matrix.org, m.room.message): plain text for clients that show no HTML. */
export function matrixBody(message: Message) {
  const { event, push } = message
  const head = sentence(message)
  const lines = push ? push.commits.map(commitLine) : []
  return {
    body: [head, ...lines].map(inMarkdown).join('\n'),
    msgtype: 'm.notice',
    format: 'org.matrix.custom.html',
    formatted_body: [head, ...lines].map(inHtml).join('<br>'),
    ...(event.type === 'push' ? { 'io.gitea.commits': event.payload.commits } : {}),
  }
}

function sentence({ event, phrase, sender, saysSender, push }: Message): Words {
  if (push && event.type === 'push') return pushed(push, sender.login, refUrl(event.payload, 'branch'))
  if (event.type === 'create' || event.type === 'delete') return refByWhom(event)
  // Wire: nobody is named for a status.
  if (saysSender === 'never' || event.type === 'status') return phrase
  const who: Link = { text: sender.login, url: sender.html_url }
  return [...phrase, ' by ', who]
}

const pushed = ({ repository, branch, count }: PushPart, login: string, url: string): Words => {
  const commits = count.replace(' new ', ' ')
  return ['[', repository, `] ${login} pushed ${commits} to `, { text: branch, url }, ':']
}

const commitLine = ({ id, url, message, author }: PushPart['commits'][number]): Words => [
  { text: id.slice(0, 7), url },
  `: ${message} - ${author.name}`,
]
