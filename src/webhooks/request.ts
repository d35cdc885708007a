import { createHmac } from 'node:crypto'
import type { HookType } from '../../db/schema/hooks.ts'
import type { OutboundRequest } from '../outbound/follow.ts'
import { version } from '../version.ts'
import { signForFeishu } from './messages/feishu.ts'

/** All that a delivery is made of, secrets opened. */
export interface Sending {
  type: HookType
  url: string
  httpMethod: 'GET' | 'POST' | 'PUT'
  contentType: 'json' | 'form'
  /** Empty without one. */
  secret: string
  /** Empty without one. */
  authorization: string
  target: TargetType
  uuid: string
  /** As it is stored. */
  eventType: string
  /** The JSON text. */
  payload: string
  now: Date
}

/** Whose hook it is. Copies of default hooks are the repository's. */
export type TargetType = 'repository' | 'organization' | 'user' | 'system'

/** Shown as hidden wherever a delivery is shown. */
export const SECRET_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'x-gitea-signature',
  'x-gogs-signature',
  'x-hub-signature',
  'x-hub-signature-256',
  'webhook-signature',
])

/** The request of a delivery: Gitea's headers, the Gogs and GitHub spellings of them, and Standard Webhooks'. */
export function hookRequest(given: Sending): OutboundRequest {
  const sending = given.type === 'feishu' && given.secret !== '' ? withSignature(given) : given
  const { url, authorization } = withoutUser(sending.url)
  const takesForm = (sending.type === 'gitea' || sending.type === 'gogs') && sending.contentType === 'form'
  const form = `payload=${encodeURIComponent(sending.payload).replace(/%20/g, '+')}`
  const isMatrix = sending.type === 'matrix'
  const isGet = sending.httpMethod === 'GET' && !isMatrix
  const body = isGet ? '' : takesForm ? form : sending.payload
  const credentials = sending.authorization.trim() || authorization
  return {
    url: isGet ? withPayload(url, sending.payload) : isMatrix ? withTransaction(url, sending.uuid) : url.href,
    method: isMatrix ? 'PUT' : sending.httpMethod,
    secretHeaders: SECRET_HEADERS,
    headers: {
      'user-agent': `Hearth/${version}`,
      accept: '*/*',
      ...(isGet ? {} : { 'content-type': takesForm ? 'application/x-www-form-urlencoded' : 'application/json' }),
      ...(credentials === '' ? {} : { authorization: credentials }),
      ...giteaHeaders(sending),
      ...standardHeaders(sending, isGet ? sending.payload : body),
    },
    ...(isGet ? {} : { body }),
  }
}

const withSignature = (sending: Sending): Sending => ({
  ...sending,
  payload: signForFeishu(sending.payload, sending.secret, sending.now),
})

function giteaHeaders({ uuid, eventType, target, secret, payload }: Sending): Record<string, string> {
  const event = eventOf(eventType)
  const names = ['X-Gitea', 'X-Gogs', 'X-GitHub'].flatMap((prefix) => [
    [`${prefix}-Delivery`, uuid],
    [`${prefix}-Event`, event],
    [`${prefix}-Event-Type`, eventType],
  ])
  const targets = ['X-Gitea', 'X-GitHub'].map((prefix) => [`${prefix}-Hook-Installation-Target-Type`, target])
  // Wire: signed is the JSON text, also where a form carries it.
  const sign = (algorithm: string) => createHmac(algorithm, secret).update(payload).digest('hex')
  const signatures =
    secret === ''
      ? []
      : [
          ['X-Gitea-Signature', sign('sha256')],
          ['X-Gogs-Signature', sign('sha256')],
          ['X-Hub-Signature', `sha1=${sign('sha1')}`],
          ['X-Hub-Signature-256', `sha256=${sign('sha256')}`],
        ]
  return Object.fromEntries([...names, ...targets, ...signatures])
}

/** https://www.standardwebhooks.com: the time is signed with the content, so that a receiver can refuse what is played again. */
function standardHeaders({ uuid, secret, now }: Sending, content: string): Record<string, string> {
  const timestamp = Math.floor(now.getTime() / 1000)
  const head = { 'webhook-id': uuid, 'webhook-timestamp': String(timestamp) }
  if (secret === '') return head
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret)
  const signature = createHmac('sha256', key).update(`${uuid}.${timestamp}.${content}`).digest('base64')
  return { ...head, 'webhook-signature': `v1,${signature}` }
}

const REVIEWS: Readonly<Record<string, string>> = {
  pull_request_review_approved: 'pull_request_approved',
  pull_request_review_rejected: 'pull_request_rejected',
  pull_request_review_comment: 'pull_request_comment',
}

/** Wire: the event of an event type. Kinds of what happens to issues and pull requests share one. */
export function eventOf(type: string): string {
  const review = REVIEWS[type]
  if (review !== undefined) return review
  if (type === 'pull_request_comment') return 'issue_comment'
  if (type.startsWith('pull_request')) return 'pull_request'
  return type.startsWith('issue') && type !== 'issue_comment' ? 'issues' : type
}

/** User and password of an address become Basic credentials. They are not part of the address that is asked for. */
function withoutUser(text: string): { url: URL; authorization: string } {
  const url = new URL(text)
  const { username, password } = url
  if (username === '' && password === '') return { url, authorization: '' }
  url.username = ''
  url.password = ''
  const credentials = Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')
  return { url, authorization: `Basic ${credentials}` }
}

/**
 * https://spec.matrix.org, "Sending events to a room": a server drops what comes twice under one transaction. So it is the delivery, which
 * keeps its id when it is repeated; Gitea takes the hash of the body, under which the second of two equal messages is lost.
 */
function withTransaction(url: URL, uuid: string): string {
  const full = new URL(url)
  full.pathname = `${full.pathname.replace(/\/$/, '')}/${uuid}`
  return full.href
}

/** A part of an address that is not escaped well is taken as it stands. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function withPayload(url: URL, payload: string): string {
  const full = new URL(url)
  full.searchParams.set('payload', payload)
  return full.href
}
