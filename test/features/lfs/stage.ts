import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { objectOf, parseJson } from '../../../src/http/openapi/json.ts'
import { sha256Hex } from '../../../src/kernel/hashing.ts'
import type { TestService, TestUser } from '../../harness/service.ts'

/** A content, and what it is called. */
export interface Content {
  oid: string
  size: number
  bytes: Uint8Array<ArrayBuffer>
}

let counter = 0

/** Another one each time. */
export function content(text = `content ${++counter} ${crypto.randomUUID()}`): Content {
  const bytes = new TextEncoder().encode(text)
  return { oid: sha256Hex(bytes), size: bytes.length, bytes }
}

export const pointerTo = ({ oid, size }: Pick<Content, 'oid' | 'size'>): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`

export const nameOf = ({ oid, size }: Content) => ({ oid, size })

export interface LfsAnswer {
  status: number
  headers: Headers
  text: string
  body: Record<string, unknown>
}

const Action = Type.Object({
  href: Type.String(),
  header: Type.Record(Type.String(), Type.String()),
  expires_in: Type.Integer(),
})
const Answered = Type.Object({
  oid: Type.String(),
  size: Type.Number(),
  actions: Type.Optional(Type.Partial(Type.Object({ upload: Action, download: Action, verify: Action }))),
  error: Type.Optional(Type.Object({ code: Type.Integer(), message: Type.String() })),
})
/** What an object of a batch was answered with. */
export type Answered = typeof Answered.static

export const TYPE = 'application/vnd.git-lfs+json'

/** Speaks the protocol of git-lfs to one repository, as one caller. */
export function lfsClient(url: string, path: string, headers: Record<string, string> = {}) {
  const root = `${url}/${path}.git/info/lfs`
  const send = async (place: string, init: RequestInit = {}): Promise<LfsAnswer> => {
    const response = await fetch(place.startsWith('http') ? place : root + place, {
      ...init,
      headers: { accept: TYPE, ...headers, ...Object.fromEntries(new Headers(init.headers)) },
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type') === TYPE
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? objectOf(parseJson(text)) : {},
    }
  }
  const post = (place: string, json: unknown) =>
    send(place, { method: 'POST', headers: { 'content-type': `${TYPE}; charset=utf-8` }, body: JSON.stringify(json) })
  const batch = (operation: 'download' | 'upload', objects: readonly object[], more: object = {}) =>
    post('/objects/batch', { operation, transfers: ['basic'], objects, ...more })
  const ask = async (operation: 'download' | 'upload', objects: readonly object[]): Promise<Answered[]> => {
    const answer = await batch(operation, objects)
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
    return Value.Parse(Type.Array(Answered), answer.body.objects)
  }
  const one = async (operation: 'download' | 'upload', object: object): Promise<Answered> => {
    const [answered] = await ask(operation, [object])
    if (!answered) throw new Error('nothing was answered')
    return answered
  }
  const put = (named: Content, bytes: BodyInit = named.bytes, size: string | number = named.size) =>
    send(`/objects/${named.oid}/${size}`, { method: 'PUT', body: bytes })
  return { root, send, post, batch, ask, one, put, get: (named: { oid: string }) => send(`/objects/${named.oid}`) }
}

export type LfsClient = ReturnType<typeof lfsClient>

export const basicOf = ({ name, token }: Pick<TestUser, 'name' | 'token'>): Record<string, string> => ({
  authorization: `Basic ${btoa(`${name}:${token}`)}`,
})

export const lfsOf = (service: TestService, path: string, user?: TestUser): LfsClient =>
  lfsClient(service.url, path, user ? basicOf(user) : {})

/** Sends a content as git-lfs does. */
export async function uploaded(client: LfsClient, named: Content = content()): Promise<Content> {
  const { actions } = await client.one('upload', nameOf(named))
  const { upload, verify } = actions ?? {}
  if (!upload || !verify) throw new Error('no actions')
  const sent = await fetch(upload.href, { method: 'PUT', headers: upload.header, body: named.bytes })
  const verified = await fetch(verify.href, {
    method: 'POST',
    headers: { ...verify.header, 'content-type': TYPE },
    body: JSON.stringify(nameOf(named)),
  })
  if (sent.status !== 200 || verified.status !== 200) throw new Error(`${sent.status} ${verified.status}`)
  return named
}

/** Keys of all contents in the object store. */
export async function storedKeys({ context }: TestService): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of context.objects.list('lfs')) keys.push(key)
  return keys.sort()
}
