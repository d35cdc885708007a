import { randomInt } from 'node:crypto'
import type { OAuthApplicationRow } from '../../db/schema/oauth.ts'
import { makeOAuthSecret } from '../auth/oauth-secrets.ts'
import { networkOfOrigin, type RequestOrigin } from '../auth/origin.ts'
import type { Context } from '../context.ts'
import { spend } from '../http/rate-limit.ts'
import { sha256Hex } from '../kernel/hashing.ts'
import type { Person } from './authorize.ts'
import {
  answerDevice,
  findDevice,
  findWaiting,
  insertDevice,
  notePoll,
  slowDown,
  takeAnswer,
  type WaitingDevice,
} from './device-store.ts'
import { invalidGrant, invalidRequest, OAuthError } from './errors.ts'
import { authorizeDevice } from './issue-code.ts'
import type { Parameters } from './parameters.ts'
import { grantedScopes } from './scopes.ts'
import { beginFamily, findById } from './store.ts'
import { makeFirstTokens, presentTokens, requireUsableGrant, storeAccessToken, type TokenAnswer } from './tokens.ts'

/** RFC 8628, 3.4. */
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

const EXPIRES_SECONDS = 600
const INTERVAL_SECONDS = 5
const MAX_SCOPE = 4096

/** RFC 8628, 6.1: without vowels, so that no words come out, and without digits: 20^8 of them. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const USER_CODE = /^[BCDFGHJKLMNPQRSTVWXZ]{8}$/

/** Codes that one account may try in the time that one is good for. */
const TRIES = { requests: 20, seconds: EXPIRES_SECONDS }

/** Devices that one network may begin to sign in: many people may share it. */
const FROM_NETWORK = { requests: 100, seconds: 3600 }

const newUserCode = (): string => Array.from({ length: 8 }, () => LETTERS.charAt(randomInt(LETTERS.length))).join('')

/** In two halves, as it is shown. */
export const shownUserCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`

/** As somebody has typed it; undefined for what is no code. */
function readUserCode(text: string): string | undefined {
  const code = text.toUpperCase().replace(/[^A-Z]/g, '')
  return USER_CODE.test(code) ? code : undefined
}

/**
 * RFC 8628, 3.2. A public client proves nothing, so that anybody may ask.
 * @throws Refusal 429 for too many from one network
 */
export async function beginDevice(
  context: Context,
  client: OAuthApplicationRow,
  { parameters, origin }: { parameters: Parameters; origin: RequestOrigin },
) {
  const { db, config, clock, baseUrl } = context
  const requestedScope = parameters.get('scope') ?? ''
  if (requestedScope.length > MAX_SCOPE || requestedScope.includes('\0')) throw invalidRequest('the scope is too long')
  await spend(context, `device:${networkOfOrigin(origin)}`, FROM_NETWORK)
  const deviceCode = makeOAuthSecret('device')
  const now = clock.now()
  const device = {
    applicationId: client.id,
    deviceCodeHash: sha256Hex(deviceCode),
    scopes: grantedScopes(requestedScope, config),
    requestedScope,
    expiresAt: new Date(now.getTime() + EXPIRES_SECONDS * 1000),
    intervalSeconds: INTERVAL_SECONDS,
    nextPollAt: now,
  }
  let userCode = newUserCode()
  // Of so many codes hardly ever the same one.
  while (!(await insertDevice(db, { ...device, userCode }))) userCode = newUserCode()
  const page = `${baseUrl}/login/device`
  return {
    device_code: deviceCode,
    user_code: shownUserCode(userCode),
    verification_uri: page,
    verification_uri_complete: `${page}?user_code=${shownUserCode(userCode)}`,
    expires_in: EXPIRES_SECONDS,
    interval: INTERVAL_SECONDS,
  }
}

/**
 * The device that waits with this code.
 * @throws Refusal 429 for somebody who tries too many
 */
export async function findDeviceFor(
  context: Context,
  person: Person,
  typed: string,
): Promise<WaitingDevice | undefined> {
  await spend(context, `device code:${person.user.id}`, TRIES)
  const code = readUserCode(typed)
  return code === undefined ? undefined : findWaiting(context.db, code, { now: context.clock.now() })
}

/** @returns whether there was such a device: it is answered once */
export async function answerDeviceRequest(
  context: Context,
  person: Person,
  { userCode, isAllowed }: { userCode: string; isAllowed: boolean },
): Promise<boolean> {
  await spend(context, `device code:${person.user.id}`, TRIES)
  const code = readUserCode(userCode)
  if (code === undefined) return false
  const now = context.clock.now()
  return context.db.transaction(async (tx) => {
    const found = await findWaiting(tx, code, { now, isLocked: true })
    if (!found) return false
    const { device, application } = found
    if (!isAllowed) {
      await answerDevice(tx, device.id, { deniedAt: now })
      return true
    }
    const { scopes, requestedScope } = device
    const consented = { application, person, scopes, requestedScope, authTime: person.session.authenticatedAt }
    await answerDevice(tx, device.id, { authorizationId: await authorizeDevice(context, tx, consented) })
    return true
  })
}

/** RFC 8628, 3.4 and 3.5. @throws OAuthError while nobody has said yes */
export async function pollDevice(
  context: Context,
  client: OAuthApplicationRow,
  parameters: Parameters,
): Promise<TokenAnswer> {
  const { db, clock } = context
  const code = parameters.get('device_code')
  if (code === undefined) throw invalidRequest('device_code is missing')
  const device = await findDevice(db, sha256Hex(code))
  if (!device) throw invalidGrant('device code does not exist')
  if (device.applicationId !== client.id) throw invalidGrant('device code belongs to a different client')
  const now = clock.now()
  if (device.expiresAt <= now) throw new OAuthError('expired_token', 'the device code has expired')
  if (device.deniedAt !== null) throw new OAuthError('access_denied', 'the request is denied')
  if (!(await notePoll(db, device, now))) {
    await slowDown(db, device.id)
    throw new OAuthError('slow_down', 'ask less often')
  }
  if (device.authorizationId === null) throw new OAuthError('authorization_pending', 'nobody has answered yet')
  return beginTokens(context, client, device.id)
}

async function beginTokens(context: Context, client: OAuthApplicationRow, deviceId: number): Promise<TokenAnswer> {
  const { family, ...tokens } = makeFirstTokens(context)
  const { authorization, user } = await context.db.transaction(async (tx) => {
    const id = await takeAnswer(tx, deviceId)
    const found = id === undefined ? undefined : await findById(tx, id)
    if (!found) throw invalidGrant('device code does not exist')
    requireUsableGrant(context, found.user)
    await beginFamily(tx, found.authorization.id, family)
    await storeAccessToken(tx, found.authorization, { ...tokens, scopes: found.authorization.scopes })
    return found
  })
  const { scopes, requestedScope } = authorization
  return presentTokens(context, { clientId: client.clientId, user, authorization, ...tokens, scopes, requestedScope })
}
