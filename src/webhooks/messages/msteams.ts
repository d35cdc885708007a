import type { Message } from './message.ts'
import { commitLines } from './text.ts'
import { plain } from './words.ts'

/** Body for a Microsoft Teams incoming webhook: a legacy actionable message card. */
export function msteamsBody(message: Message) {
  const { push, phrase, colour, sender, facts, url } = message
  const title = push ? `[${push.repository.text}:${push.branch}] ${push.count}` : plain(phrase)
  return {
    '@type': 'MessageCard',
    '@context': 'https://schema.org/extensions',
    themeColor: colour,
    title,
    summary: title,
    sections: [
      {
        activityTitle: sender.full_name,
        activitySubtitle: sender.login,
        activityImage: sender.avatar_url,
        facts: facts.map(([name, value]) => ({ name, value })),
        text: textOf(message),
      },
    ],
    potentialAction:
      url === '' ? [] : [{ '@type': 'OpenUri', name: 'View in Hearth', targets: [{ os: 'default', uri: url }] }],
  }
}

function textOf({ push, body, event }: Message): string {
  if (push) return commitLines(push, '\n\n')
  return event.type === 'release' || event.type === 'wiki' ? '' : body
}
