import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { invalid, Refusal, tooLarge } from '../kernel/errors.ts'
import { readText, UnreadableBody } from './body.ts'
import { jsonFault } from './json-shape.ts'

interface MessageRule {
  maxBytes: number
  /** What it may be instead of `application/json`; the one that a refusal names. */
  type?: string
}

/** The JSON body of a protocol that is not the API, read once its sender was admitted. @throws Refusal 413, 415, 422 */
export async function readMessage<Schema extends TSchema>(
  request: Request,
  schema: Schema,
  { maxBytes, type = 'application/json' }: MessageRule,
): Promise<Schema['static']> {
  const sent = request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase()
  if (sent !== type && sent !== 'application/json') throw new Refusal(415, `the content type must be ${type}`)
  const text = await readText(request, maxBytes)
  if (text instanceof UnreadableBody) throw text.refusal
  if (jsonFault(text) !== undefined) throw tooLarge('the body holds too many values')
  const value = parse(text)
  if (Value.Check(schema, value)) return value
  const [first] = Value.Errors(schema, value)
  throw invalid(`${first?.path || 'the body'}: ${first?.message ?? 'is not what was expected'}`)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw invalid('malformed JSON')
    throw error
  }
}
