import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Context } from '../../context.ts'
import { constantTimeEqual } from '../../kernel/hashing.ts'

/** `download` reads, `upload` changes: the words of Git LFS. */
export type Operation = 'download' | 'upload'

/** What a token lets its bearer do until it ends: one thing with one repository, in the name of one account. */
const Grant = Type.Object({
  repositoryId: Type.Integer(),
  userId: Type.Integer(),
  operation: Type.Union([Type.Literal('download'), Type.Literal('upload')]),
  publicOnly: Type.Boolean(),
  /** The SSH key that it was given for: it ends with the key. */
  keyId: Type.Optional(Type.Integer()),
  /** The task of the job that it was given to: it ends with the task. */
  taskId: Type.Optional(Type.Integer()),
  isDeployKey: Type.Boolean(),
})
export type Grant = typeof Grant.static

/** Enough for the requests that belong together; clients then ask anew. */
export const TOKEN_SECONDS = 1800

const PURPOSE = 'lfs token'
const PREFIX = 'lfs.'
const Signed = Type.Tuple([Type.Integer(), Grant])

/** The header that a client sends along, as Git LFS hands it on. */
export function headerFor(context: Context, grant: Grant): { Authorization: string } {
  const until = context.clock.now().getTime() + TOKEN_SECONDS * 1000
  const body = Buffer.from(JSON.stringify([until, grant])).toString('base64url')
  return { Authorization: `Bearer ${PREFIX}${body}.${textOf(context.secrets.sign(PURPOSE, body))}` }
}

/** Whether a request brings such a token, be it a good one or not. */
export const bringsToken = ({ headers }: Request): boolean => tokenOf(headers) !== undefined

/** Undefined for a token that this instance has not written, or whose time is over. */
export function readGrant(context: Context, { headers }: Request): Grant | undefined {
  const [body = '', signed = ''] = tokenOf(headers)?.split('.') ?? []
  const ours = context.secrets.signatures(PURPOSE, body).map(textOf)
  if (!ours.some((one) => constantTimeEqual(signed, one))) return undefined
  const content: unknown = JSON.parse(Buffer.from(body, 'base64url').toString())
  if (!Value.Check(Signed, content)) return undefined
  const [until, grant] = content
  return until > context.clock.now().getTime() ? grant : undefined
}

const tokenOf = (headers: Headers): string | undefined =>
  /^Bearer lfs\.(\S*)$/.exec(headers.get('authorization') ?? '')?.[1]

const textOf = (signature: Uint8Array): string => Buffer.from(signature).toString('base64url')
