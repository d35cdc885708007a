import { timingSafeEqual } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Secrets } from '../auth/secrets.ts'
import { invalid } from '../kernel/errors.ts'
import type { Position } from '../kernel/page.ts'

/** Changes with the order of any list, so that cursors of an older version are refused and not misread. */
const VERSION = 1

const PURPOSE = 'cursor'
const SIGNATURE_BYTES = 16

/** Parameters that do not make another list: how much of it is shown, from where, and to whom. */
const BESIDE_THE_LIST = ['page', 'limit', 'cursor', 'token', 'access_token']

/** Which list, with which filters, in which order: the address of a request. */
export interface AskedList {
  path: string
  query: URLSearchParams
}

const Keys = Type.Array(Type.String())

/**
 * A position as clients carry it: signed together with the list that it belongs to, its filters and its order. What a client makes
 * up, changes, or takes from elsewhere never reaches a statement.
 */
export function writeCursor(secrets: Secrets, list: AskedList, position: Position): string {
  const keys = Buffer.from(JSON.stringify(position))
  const signed = secrets.sign(PURPOSE, textOf(list, keys)).subarray(0, SIGNATURE_BYTES)
  return Buffer.concat([signed, keys]).toString('base64url')
}

/** @throws Refusal 422 for anything that this list has not written */
export function readCursor(secrets: Secrets, list: AskedList, cursor: string): Position {
  const bytes = Buffer.from(cursor, 'base64url')
  const [signed, keys] = [bytes.subarray(0, SIGNATURE_BYTES), bytes.subarray(SIGNATURE_BYTES)]
  if (signed.length < SIGNATURE_BYTES || !isOurs(secrets, signed, textOf(list, keys))) throw refusal()
  const position: unknown = JSON.parse(keys.toString())
  if (!Value.Check(Keys, position)) throw refusal()
  return position
}

const refusal = () =>
  invalid('belongs to another list, filter or order; leave it out to begin from a numbered page', 'cursor')

const isOurs = (secrets: Secrets, signed: Buffer, text: string): boolean =>
  secrets.signatures(PURPOSE, text).some((ours) => timingSafeEqual(signed, ours.subarray(0, SIGNATURE_BYTES)))

function textOf({ path, query }: AskedList, keys: Buffer): string {
  const wanted = new URLSearchParams(query)
  for (const key of BESIDE_THE_LIST) wanted.delete(key)
  wanted.sort()
  return `${VERSION} ${path}?${wanted}\n${keys}`
}
