import type { Message, PushPart } from './message.ts'
import { plain, trimmedMessage } from './words.ts'

/** The sentence without links, with who did it where the format says so. Reviews have a blank before the colon. */
export function textOf({ event, phrase, sender, saysSender }: Message): string {
  const text = plain(phrase)
  const isReview = event.type.startsWith('pull_request_review_') && event.type !== 'pull_request_review_request'
  const described = isReview ? text.replace(/: (?=#\d)/, ' : ') : text
  return saysSender === 'always' ? `${described} by ${sender.login}` : described
}

/** A line for each commit, in Markdown, with the whole message. */
export const commitLines = ({ commits }: PushPart, separator: string): string =>
  commits
    .map(({ id, url, message, author }) => `[${id.slice(0, 7)}](${url}) ${trimmedMessage(message)} - ${author.name}`)
    .join(separator)
