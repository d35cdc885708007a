import type { Message } from './message.ts'
import { plain, shortened, subjectOf } from './words.ts'

/** Limits of https://discord.com/developers/docs/resources/message#embed-object-embed-limits, the description as Gitea cuts it. */
const MAX_TITLE = 256
const MAX_DESCRIPTION = 2000
const MAX_SUBJECT = 50

/** Body for a Discord webhook. `settings`: username and icon_url of who seems to speak. */
export function discordBody(message: Message, settings: Readonly<Record<string, string>>) {
  const { sender, url } = message
  return {
    wait: false,
    content: '',
    ...(settings.username ? { username: settings.username } : {}),
    ...(settings.icon_url ? { avatar_url: settings.icon_url } : {}),
    tts: false,
    embeds: [
      {
        title: shortened(titleOf(message), MAX_TITLE),
        description: shortened(descriptionOf(message), MAX_DESCRIPTION),
        url,
        color: Number.parseInt(message.colour, 16),
        footer: { text: '' },
        author: { name: sender.login, url: sender.html_url, icon_url: sender.avatar_url },
        fields: null,
      },
    ],
  }
}

const titleOf = ({ push, phrase }: Message): string =>
  push ? `[${push.repository.text}:${push.branch}] ${push.count}` : plain(phrase)

function descriptionOf({ push, body }: Message): string {
  if (!push) return body
  return push.commits
    .map(({ id, url, message, author }) => {
      const subject = shortened(subjectOf(message), MAX_SUBJECT)
      return `[${id.slice(0, 7)}](${url}) ${subject} - ${author.name}`
    })
    .join('\n')
}
