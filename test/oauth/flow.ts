import { createHash, randomBytes } from 'node:crypto'
import { createVisitor, type PageAnswer, type Visitor } from '../harness/browser.ts'
import type { TestService, TestUser } from '../harness/service.ts'

export const REDIRECT = 'https://app.example/cb'

export interface TestApplication {
  id: number
  clientId: string
  secret: string
  redirectUri: string
}

/** Registered by its owner; confidential unless it says otherwise. */
export async function register(owner: TestUser, option: Record<string, unknown> = {}): Promise<TestApplication> {
  const json = { name: 'App', redirect_uris: [REDIRECT], confidential_client: true, ...option }
  const made = await owner.client.post('/user/applications/oauth2', json)
  if (made.status !== 201) throw new Error(`the application is answered with ${made.status}: ${made.text}`)
  return {
    id: made.number('id'),
    clientId: made.string('client_id'),
    secret: made.string('client_secret'),
    redirectUri: made.string('redirect_uris.0'),
  }
}

type Fields = Readonly<Record<string, string | undefined>>

const given = (fields: Fields): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined))

/** The address of an authorization request; `more` replaces and, with undefined, takes away. */
export const authorizePath = ({ clientId, redirectUri }: TestApplication, more: Fields = {}): string =>
  `/login/oauth/authorize?${new URLSearchParams(
    given({ client_id: clientId, redirect_uri: redirectUri, response_type: 'code', state: 'xyz', ...more }),
  )}`

export const s256 = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url')
export const newVerifier = (): string => randomBytes(32).toString('base64url')

/** What an answer sends to the application. */
export const sentTo = ({ location }: PageAnswer): Record<string, string> =>
  Object.fromEntries(new URL(location).searchParams)

/** The hidden fields of the consent page. */
export function consentFields({ text }: PageAnswer): Record<string, string> {
  const fields = [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)]
  return Object.fromEntries(fields.map(([, name = '', value = '']) => [name, unescapeHtml(value)]))
}

const unescapeHtml = (text: string): string =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&#x27;', "'")
    .replaceAll('&amp;', '&')

export const isConsentPage = ({ status, text }: PageAnswer): boolean =>
  status === 200 && text.includes('action="/login/oauth/grant"')

/** Says yes on the consent page. @throws unless that is the page */
export async function consent(
  visitor: Visitor,
  page: PageAnswer,
  more: Record<string, string> = {},
): Promise<PageAnswer> {
  if (!isConsentPage(page))
    throw new Error(`no consent page: ${page.status} ${page.location} ${page.text.slice(0, 3000)}`)
  return visitor.post('/login/oauth/grant', { ...consentFields(page), granted: 'true', ...more })
}

export interface Party {
  service: TestService
  visitor: Visitor
  app: TestApplication
}

/** A code, however it is come by: at once, or after consent. */
export async function codeFor({ visitor, app }: Party, more: Fields = {}): Promise<string> {
  const page = await visitor.get(authorizePath(app, more))
  const answer = page.status === 303 ? page : await consent(visitor, page)
  const { code } = sentTo(answer)
  if (code === undefined) throw new Error(`no code: ${answer.status} ${answer.location}`)
  return code
}

export interface TokenReply {
  status: number
  headers: Headers
  body: Record<string, unknown>
}

export const basicHeader = (id: string, secret: string): string =>
  `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`

/** A form sent to one of the machine endpoints. */
export async function sendForm(
  url: string,
  path: string,
  fields: Fields,
  headers: Record<string, string> = {},
): Promise<TokenReply> {
  const answer = await fetch(new URL(path, url), { method: 'POST', headers, body: new URLSearchParams(given(fields)) })
  return readReply(answer)
}

export async function readReply(answer: Response): Promise<TokenReply> {
  const text = await answer.text()
  const parsed: unknown = answer.headers.get('content-type')?.startsWith('application/json')
    ? JSON.parse(text)
    : { text }
  const body = typeof parsed === 'object' && parsed !== null ? Object.fromEntries(Object.entries(parsed)) : {}
  return { status: answer.status, headers: answer.headers, body }
}

export const askToken = ({ service, app }: Party, fields: Fields): Promise<TokenReply> =>
  sendForm(service.url, '/login/oauth/access_token', {
    client_id: app.clientId,
    client_secret: app.secret,
    ...fields,
  })

export const exchange = (party: Party, code: string, more: Fields = {}): Promise<TokenReply> =>
  askToken(party, { grant_type: 'authorization_code', code, redirect_uri: party.app.redirectUri, ...more })

export const refresh = (party: Party, token: string, more: Fields = {}): Promise<TokenReply> =>
  askToken(party, { grant_type: 'refresh_token', refresh_token: token, ...more })

export interface Tokens {
  access: string
  refresh: string
  body: Record<string, unknown>
}

/** Tokens with these scopes. */
export async function tokensFor(party: Party, scope = '', more: Fields = {}): Promise<Tokens> {
  return tokensIn(await exchange(party, await codeFor(party, { scope, ...more })))
}

export function tokensIn({ status, body }: TokenReply): Tokens {
  const { access_token: access, refresh_token: refresh } = body
  if (status !== 200 || typeof access !== 'string' || typeof refresh !== 'string')
    throw new Error(`no tokens: ${status} ${JSON.stringify(body)}`)
  return { access, refresh, body }
}

/** Somebody new with a browser, signed in. */
export async function newcomer(service: TestService): Promise<{ user: TestUser; visitor: Visitor }> {
  const user = await service.createUser()
  const visitor = createVisitor(service.url)
  await visitor.signIn(user)
  return { user, visitor }
}

/** Somebody new, and an application of theirs. */
export async function newParty(
  service: TestService,
  option: Record<string, unknown> = {},
): Promise<Party & { user: TestUser }> {
  const { user, visitor } = await newcomer(service)
  return { service, user, visitor, app: await register(user, option) }
}
