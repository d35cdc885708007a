import type { Config } from '../config.ts'
import { readText, UnreadableBody } from '../http/body.ts'
import { invalidRequest, OAuthError } from './errors.ts'

/** The parameters of a request, each once. */
export type Parameters = ReadonlyMap<string, string>

/** No request has a good reason to be longer, and few servers take longer addresses. */
const MAX_BODY_BYTES = 1_048_576

/**
 * The body of a request to a machine endpoint: a form of either kind, or JSON. The query does not count (RFC 6749, 3.2).
 * @throws OAuthError for a body that cannot be read and for a repeated parameter
 */
export async function readParameters(request: Request, { maxBodyBytes }: Config): Promise<Parameters> {
  const text = await readText(request, Math.min(maxBodyBytes, MAX_BODY_BYTES))
  if (text instanceof UnreadableBody) throw new OAuthError('invalid_request', 'the body is too large', { status: 413 })
  const type = request.headers.get('content-type') ?? ''
  switch (type.split(';', 1)[0]?.trim().toLowerCase()) {
    case 'application/x-www-form-urlencoded':
      return eachOnce(new URLSearchParams(text))
    case 'multipart/form-data':
      return eachOnce(await readMultipart(text, type))
    case 'application/json':
      return eachOnce(readJson(text))
    default:
      return new Map()
  }
}

/** RFC 6749, 3.1 and 3.2: no parameter comes twice, and one without a value counts as left out. */
function eachOnce(entries: Iterable<[string, string]>): Parameters {
  const parameters = new Map<string, string>()
  const seen = new Set<string>()
  for (const [name, value] of entries) {
    if (seen.has(name)) throw invalidRequest(`the parameter ${JSON.stringify(name.slice(0, 100))} is repeated`)
    seen.add(name)
    if (value !== '') parameters.set(name, value)
  }
  return parameters
}

async function readMultipart(text: string, type: string): Promise<[string, string][]> {
  try {
    const form = await new Response(text, { headers: { 'content-type': type } }).formData()
    return [...form.entries()].map(([name, value]) => [name, typeof value === 'string' ? value : ''])
  } catch {
    // Whatever is wrong with it, it is no form.
    throw invalidRequest('the form cannot be read')
  }
}

/** Wire: a broken body has no grant type. What is no text cannot be meant. */
function readJson(text: string): [string, string][] {
  const value = parsed(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  return Object.entries(value).flatMap(([name, item]): [string, string][] => {
    if (item === null) return []
    if (typeof item !== 'string') throw invalidRequest(`the parameter ${JSON.stringify(name.slice(0, 100))} is no text`)
    return [[name, item]]
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
