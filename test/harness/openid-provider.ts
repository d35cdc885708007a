import { createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { listen } from './listen.ts'

type Claims = Record<string, unknown>

/** What is different from what a provider should do. */
export interface Twist {
  /** Replaces claims of the id token; undefined takes one away. */
  idToken?: Claims
  /** Signs with a key that is not published. */
  isForged?: boolean
  /** In place of the signature: none, or one with the client secret, or with the public key, as a secret that both know. */
  algorithm?: 'none' | 'HS256 by the client secret' | 'HS256 by the public key'
  /** Replaces what the provider says of itself. */
  metadata?: Claims
  /** Replaces parameters of the way back; undefined takes one away. */
  back?: Record<string, string | undefined>
  /** Whether a code works again. */
  codesLast?: boolean
  userinfo?: Claims
  /** Status of every answer to a program. */
  status?: number
  /** Called before a code is exchanged. */
  beforeTokens?: () => Promise<void>
}

/** A provider of OpenID Connect that believes everybody: who asks is signed in as `person`. */
export interface TestProvider {
  issuer: string
  clientId: string
  secret: string
  /** The next to be signed in: `sub`, and the claims that the id token has. */
  person: Claims & { sub: string }
  twist: Twist
  /** Paths that were asked for, in order. */
  asked: string[]
  /** What the last authorization request said. */
  lastRequest: URLSearchParams
  stop(): void
}

interface Issued {
  person: Claims
  nonce: string | null
  challenge: string | null
  redirectUri: string | null
}

/** @param announcesIssuer whether its answers name it (RFC 9207), and it says that they do */
export async function startOpenIdProvider({ announcesIssuer = true } = {}): Promise<TestProvider> {
  const [published, hidden] = await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')])
  const jwk = { ...(await exportJWK(published.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }
  const codes = new Map<string, Issued>()
  const people = new Map<string, Claims>()
  const server = createServer((message, reply) => {
    answer(message).then(
      ({ status = 200, location, json }) => {
        const headers = location === undefined ? { 'content-type': 'application/json' } : { location }
        reply.writeHead(status, headers)
        reply.end(json === undefined ? '' : JSON.stringify(json))
      },
      (error: unknown) => {
        reply.writeHead(500)
        reply.end(String(error))
      },
    )
  })
  const issuer = `http://127.0.0.1:${await listen(server)}`
  const provider: TestProvider = {
    issuer,
    clientId: 'hearth',
    secret: 'the secret of hearth, & more',
    person: { sub: '1' },
    twist: {},
    asked: [],
    lastRequest: new URLSearchParams(),
    stop: () => void server.close(),
  }

  interface Reply {
    status?: number
    location?: string
    json?: unknown
  }

  async function answer(message: IncomingMessage): Promise<Reply> {
    const url = new URL(message.url ?? '/', issuer)
    provider.asked.push(url.pathname)
    if (url.pathname === '/authorize') return authorize(url.searchParams)
    if (provider.twist.status !== undefined) return { status: provider.twist.status, json: {} }
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return { json: metadata() }
      case '/keys':
        return { json: { keys: [jwk] } }
      case '/token':
        return tokens(message)
      case '/userinfo':
        return { json: { ...people.get(message.headers.authorization ?? ''), ...provider.twist.userinfo } }
    }
    return { status: 404, json: {} }
  }

  const metadata = () => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/keys`,
    response_types_supported: ['code'],
    id_token_signing_alg_values_supported: ['ES256'],
    authorization_response_iss_parameter_supported: announcesIssuer,
    ...provider.twist.metadata,
  })

  function authorize(query: URLSearchParams): Reply {
    provider.lastRequest = query
    const code = randomBytes(16).toString('hex')
    const [nonce, challenge] = [query.get('nonce'), query.get('code_challenge')]
    codes.set(code, { person: { ...provider.person }, nonce, challenge, redirectUri: query.get('redirect_uri') })
    const back = new URL(query.get('redirect_uri') ?? '')
    const fields = {
      code,
      state: query.get('state') ?? '',
      ...(announcesIssuer ? { iss: issuer } : {}),
      ...provider.twist.back,
    }
    for (const [name, value] of Object.entries(fields)) if (value !== undefined) back.searchParams.set(name, value)
    return { status: 303, location: back.href }
  }

  async function tokens(message: IncomingMessage): Promise<Reply> {
    await provider.twist.beforeTokens?.()
    const form = new URLSearchParams(await textOf(message))
    const code = form.get('code') ?? ''
    const issued = codes.get(code)
    const basic = Buffer.from(`${provider.clientId}:${encodeURIComponent(provider.secret).replaceAll('%20', '+')}`)
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (message.headers.authorization !== `Basic ${basic.toString('base64')}`)
      return { status: 401, json: { error: 'invalid_client' } }
    if (!issued || challenge !== issued.challenge || form.get('redirect_uri') !== issued.redirectUri)
      return { status: 400, json: { error: 'invalid_grant' } }
    if (!provider.twist.codesLast) codes.delete(code)
    const access = randomBytes(16).toString('hex')
    people.set(`Bearer ${access}`, issued.person)
    const now = Math.floor(Date.now() / 1000)
    const claims = {
      iss: issuer,
      aud: provider.clientId,
      iat: now,
      exp: now + 300,
      nonce: issued.nonce,
      ...issued.person,
    }
    const idToken = await sign(withoutAbsent({ ...claims, ...provider.twist.idToken }))
    return { json: { access_token: access, token_type: 'Bearer', expires_in: 300, id_token: idToken } }
  }

  async function sign(claims: Claims): Promise<string> {
    if (provider.twist.algorithm === 'none') {
      const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
      return `${part({ alg: 'none' })}.${part(claims)}.`
    }
    const shared = { 'HS256 by the client secret': provider.secret, 'HS256 by the public key': JSON.stringify(jwk) }
    if (provider.twist.algorithm !== undefined)
      return new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256', kid: 'one' })
        .sign(Buffer.from(shared[provider.twist.algorithm]))
    const { privateKey } = provider.twist.isForged ? hidden : published
    return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(privateKey)
  }
  return provider
}

const withoutAbsent = (claims: Claims): Claims =>
  Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined))

async function textOf(message: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of message) text += String(chunk)
  return text
}
