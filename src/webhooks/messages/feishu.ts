import { createHmac } from 'node:crypto'
import { objectOf, parseJson } from '../../http/openapi/json.ts'
import type { Message } from './message.ts'
import type { Person, SubjectPart } from './payload.ts'
import { commitLines, textOf } from './text.ts'

/** Body for a Feishu robot, unsigned. */
export const feishuBody = (message: Message) => ({ msg_type: 'text', content: { text: feishuText(message) } })

/**
 * Signed as Feishu asks: the key is the time and the secret, the message is empty. The robot refuses a time of more than an hour ago, so
 * each attempt is signed anew (https://open.feishu.cn/document/client-docs/bot-v3/add-custom-bot).
 */
export function signForFeishu(body: string, secret: string, now: Date): string {
  const timestamp = Math.floor(now.getTime() / 1000)
  const sign = createHmac('sha256', `${timestamp}\n${secret}`).digest('base64')
  return JSON.stringify({ timestamp, sign, ...objectOf(parseJson(body)) }, null, 2)
}

function feishuText(message: Message): string {
  const { event, push, body } = message
  if (push) return `[${push.repository.text}:${push.branch}] \r\n${commitLines(push, '\r\n')}`
  if ('comment' in event.payload && 'issue' in event.payload) {
    const { action, issue, is_pull: isPull, repository, sender } = event.payload
    const kind = isPull ? 'PullRequest' : 'Issue'
    const text = details({ head: `Comment-${repository.full_name}`, kind, action, subject: issue, sender, extra: [] })
    return withBody(text, body)
  }
  if ('issue' in event.payload) {
    const { action, issue, repository, sender } = event.payload
    const extra = extraLines(action, { subject: issue, repositoryUrl: repository.html_url, sender })
    const head = `Issue-${repository.full_name}`
    return withBody(details({ head, kind: 'Issue', action, subject: issue, sender, extra }), issue.body)
  }
  if ('pull_request' in event.payload && message.title !== undefined) {
    const { action, pull_request: pull, repository, sender } = event.payload
    const extra = extraLines(action, { subject: pull, repositoryUrl: repository.html_url, sender })
    const head = `PullRequest-${repository.full_name}`
    return withBody(details({ head, kind: 'PullRequest', action, subject: pull, sender, extra }), pull.body)
  }
  const isReview = 'pull_request' in event.payload
  return isReview && body !== '' ? `${textOf(message)}\r\n\r\n${body}` : textOf(message)
}

interface Details {
  head: string
  kind: 'Issue' | 'PullRequest'
  action: string
  subject: SubjectPart
  sender: Person
  extra: readonly string[]
}

function details({ head, kind, action, subject, sender, extra }: Details): string {
  const { number, title, html_url: url, user } = subject
  const lines = [`[${head} #${number}]: ${action}`, title, url, `${kind} by ${user.login}`, `Operator: ${sender.login}`]
  return [...lines, ...extra].join('\n')
}

const withBody = (text: string, body: string): string => (body === '' ? text : `${text}\n\n${body}`)

interface Subject {
  subject: SubjectPart
  repositoryUrl: string
  sender: Person
}

function extraLines(action: string, { subject, repositoryUrl, sender }: Subject): string[] {
  const names = (subject.assignees ?? []).map(({ login }) => login)
  const last = names.at(-1)
  const lines: string[] = []
  if (action === 'assigned' && last !== undefined) lines.push(`${sender.login} assign this to ${last}`)
  if (action === 'unassigned') lines.push(`${sender.login} unassigned this for someone`)
  if (action === 'milestoned' && subject.milestone) lines.push(`${repositoryUrl}/milestone/${subject.milestone.id}`)
  if (names.length > 0) lines.push(`Assignees: ${names.join(', ')}`)
  return lines
}
