import { afterAll, beforeAll, expect, test } from 'bun:test'
import { TOTP } from 'otpauth'
import { users } from '../../db/schema/users.ts'
import { createSecrets, type Secrets } from '../../src/auth/secrets.ts'
import { acceptedTexts, gpgKeyToken } from '../../src/features/gpg-keys/token.ts'
import { headerFor, readGrant } from '../../src/features/lfs/token.ts'
import { expiryOf, makeChallenge } from '../../src/features/passkeys/challenge.ts'
import { readCursor, writeCursor } from '../../src/http/cursor.ts'
import type { Replica } from '../features/transport/replica.ts'
import { startTwin } from '../features/transport/twins.ts'
import { createVisitor, type Visitor } from '../harness/browser.ts'
import { startTestService, type TestService } from '../harness/service.ts'
import { newcomer, newParty, refresh, tokensFor, tokensIn } from '../oauth/flow.ts'

const A = 'the first key, of more than 32 characters'
const B = 'the second key, of more than 32 characters'
const [before, both, after] = [createSecrets(A), createSecrets(B, A), createSecrets(B)]

let service: TestService
/** Seals with the new key. */
let twin: Replica
beforeAll(async () => {
  service = await startTestService({ settings: { SECRET_KEY: A } })
  twin = await startTwin(service, 'twin', { SECRET_KEY: B, SECRET_KEY_PREVIOUS: A })
})
afterAll(async () => {
  await twin.stop()
  await service.stop()
})

/** The same browser at the replica. */
function atTwin({ cookies }: Visitor): Visitor {
  const other = createVisitor(twin.url)
  for (const [name, value] of cookies) other.cookies.set(name, value)
  return other
}

test('what was signed before the key changed counts while the previous key is set, and not after', async () => {
  const withKey = (secrets: Secrets) => ({ ...service.context, secrets })
  const list = { path: '/x', query: new URLSearchParams('q=1') }
  const cursor = writeCursor(before, list, ['1'])
  expect(readCursor(both, list, cursor)).toEqual(['1'])
  expect(() => readCursor(after, list, cursor)).toThrow()
  expect(writeCursor(both, list, ['1'])).toBe(writeCursor(after, list, ['1']))

  const grant = { repositoryId: 1, userId: 1, operation: 'download', publicOnly: false, isDeployKey: false } as const
  const request = new Request('http://x', { headers: headerFor(withKey(before), grant) })
  expect(readGrant(withKey(both), request)).toEqual(grant)
  expect(readGrant(withKey(after), request)).toBeUndefined()

  const challenge = makeChallenge(withKey(before), 'sign-in')
  expect(expiryOf(withKey(both), 'sign-in', challenge)).toBeInstanceOf(Date)
  expect(expiryOf(withKey(both), 'session x', challenge)).toBeUndefined()
  expect(expiryOf(withKey(after), 'sign-in', challenge)).toBeUndefined()

  const [user] = await service.context.db.select().from(users).limit(1)
  if (!user) throw new Error('there is nobody')
  const token = gpgKeyToken(withKey(before), user)
  const accepted = (secrets: Secrets) =>
    acceptedTexts(withKey(secrets), user).map((text) => Buffer.from(text).toString())
  expect(accepted(both)).toContain(token)
  expect(accepted(after)).not.toContain(token)
})

test('a refresh that is repeated at a replica with the new key gets the same answer', async () => {
  const party = await newParty(service)
  const first = await tokensFor(party, 'all')
  const second = tokensIn(await refresh(party, first.refresh))
  const again = tokensIn(await refresh({ ...party, service: { ...service, url: twin.url } }, first.refresh))
  expect([again.access, again.refresh]).toEqual([second.access, second.refresh])
  tokensIn(await refresh({ ...party, service: { ...service, url: twin.url } }, again.refresh))
})

test('a second factor that was offered before is confirmed after, and signing in goes on at the other replica', async () => {
  const { user, visitor } = await newcomer(service)
  const page = await visitor.get('/user/settings/security/two_factor/enroll')
  const [, secret = ''] = /<code>([A-Z2-7]+)<\/code>/.exec(page.text) ?? []
  const totp = new TOTP({ secret })
  const wrong = await atTwin(visitor).post('/user/settings/security/two_factor/enroll', { passcode: '000000' })
  expect(wrong.text).not.toContain('recovery')
  const time = Date.now()
  const passcode = totp.generate({ timestamp: time })
  const confirmed = await atTwin(visitor).post('/user/settings/security/two_factor/enroll', { passcode })
  expect(confirmed.text).toMatch(/[0-9a-f]{5}(-[0-9a-f]{5}){3}/)

  const another = createVisitor(service.url)
  await another.post('/user/login', { user_name: user.name, password: user.password })
  const asked = await atTwin(another).post('/user/two_factor', {
    passcode: totp.generate({ timestamp: time + 30_000 }),
  })
  expect([asked.status, asked.location]).toEqual([303, '/'])
})

test('a form that was opened before is taken after', async () => {
  const { visitor } = await newcomer(service)
  const page = await visitor.get('/user/settings/security')
  const [, token = ''] = /name="_csrf" value="([^"]+)"/.exec(page.text) ?? []
  const send = (_csrf: string) => atTwin(visitor).post('/user/logout', { _csrf }, {})
  expect((await send(`${token}x`)).status).toBe(403)
  expect((await send(token)).status).toBe(303)
})
