import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { originOf } from '../http/admission.ts'
import { exchangeOf } from '../http/exchange.ts'
import { missingRoute } from '../http/missing-route.ts'
import { authenticateClient, authenticateConfidentialClient } from './clients.ts'
import { beginDevice, DEVICE_GRANT, pollDevice } from './device.ts'
import { answerClient, invalidRequest, NOT_STORED, OAuthError } from './errors.ts'
import { exchangeCode } from './exchange-code.ts'
import { introspect } from './introspect.ts'
import { publishedKeys } from './keys.ts'
import { describeProvider } from './metadata.ts'
import { readParameters } from './parameters.ts'
import { refreshTokens } from './refresh.ts'
import { revokeToken } from './revoke.ts'
import { readUserinfo } from './userinfo.ts'

/** Bodies are read by `parameters.ts`: every media type of them, and errors in the form of OAuth. */
const ownBody = { parse: 'none' } as const

/** What programs ask, without cookies. People come through src/web. */
export const oauthRoutes = (context: Context) =>
  new Elysia({ name: 'oauth', detail: { hide: true } })
    .get('/.well-known/openid-configuration', () => discovery(context))
    .get('/.well-known/oauth-authorization-server', () => discovery(context))
    .get('/login/oauth/keys', () => whileEnabled(context, async () => ({ keys: await publishedKeys(context) })))
    .get('/login/oauth/userinfo', ({ request }) => userinfo(context, request))
    .post('/login/oauth/userinfo', ({ request }) => userinfo(context, request), ownBody)
    .post('/login/oauth/access_token', ({ request }) => token(context, request), ownBody)
    .post('/login/oauth/device_authorization', ({ request }) => deviceAuthorization(context, request), ownBody)
    .post('/login/oauth/introspect', ({ request }) => introspection(context, request), ownBody)
    .post('/login/oauth/revoke', ({ request }) => revocation(context, request), ownBody)

const discovery = (context: Context) => (context.config.oauth2Enabled ? describeProvider(context) : missingRoute())

const disabled = () => new OAuthError('access_denied', 'OAuth2 is not enabled on this server', { status: 403 })

function whileEnabled<Answer>(context: Context, handle: () => Promise<Answer>): Promise<Answer | Response> {
  return context.config.oauth2Enabled ? handle() : answerClient(() => Promise.reject(disabled()))
}

const answer = (value: object): Response => Response.json(value, { headers: NOT_STORED })

/** Answers a request of a client with an object. */
function forClient(context: Context, handle: () => Promise<object>): Promise<Response> {
  return answerClient(async () => {
    if (!context.config.oauth2Enabled) throw disabled()
    return answer(await handle())
  })
}

/** RFC 6749, 3.2. */
const token = (context: Context, request: Request) =>
  forClient(context, async () => {
    const parameters = await readParameters(request, context.config)
    const supported = 'Only refresh_token or authorization_code grant type is supported'
    switch (parameters.get('grant_type')) {
      case 'authorization_code':
        return exchangeCode(context, await authenticateClient(context, request, parameters), parameters)
      case 'refresh_token':
        return refreshTokens(context, await authenticateClient(context, request, parameters), parameters)
      case undefined:
        throw invalidRequest(supported)
      case DEVICE_GRANT:
        if (!context.config.oauth2DeviceFlow) throw new OAuthError('unsupported_grant_type', supported)
        return pollDevice(context, await authenticateClient(context, request, parameters), parameters)
      default:
        throw new OAuthError('unsupported_grant_type', supported)
    }
  })

/** RFC 8628, 3.1. */
const deviceAuthorization = (context: Context, request: Request) =>
  forClient(context, async () => {
    if (!context.config.oauth2DeviceFlow) throw disabled()
    const parameters = await readParameters(request, context.config)
    const client = await authenticateClient(context, request, parameters)
    return beginDevice(context, client, { parameters, origin: originOf(context, exchangeOf(request)) })
  })

/** RFC 7662. */
const introspection = (context: Context, request: Request) =>
  forClient(context, async () => {
    const parameters = await readParameters(request, context.config)
    const client = await authenticateConfidentialClient(context, request, parameters)
    return introspect(context, client, requireToken(parameters.get('token')))
  })

/** RFC 7009. */
const revocation = (context: Context, request: Request) =>
  forClient(context, async () => {
    const parameters = await readParameters(request, context.config)
    const client = await authenticateClient(context, request, parameters)
    await revokeToken(context, client, requireToken(parameters.get('token')))
    return {}
  })

function requireToken(token: string | undefined): string {
  if (token === undefined) throw invalidRequest('token is missing')
  return token
}

const userinfo = (context: Context, request: Request) =>
  forClient(context, async () => {
    const isForm = request.headers.get('content-type')?.startsWith('application/x-www-form-urlencoded')
    if (request.method === 'POST' && isForm) {
      const form = await readParameters(request, context.config)
      exchangeOf(request).bodyToken = form.get('access_token') ?? form.get('token')
    }
    return readUserinfo(context, request)
  })
