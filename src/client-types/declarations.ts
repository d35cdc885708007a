import { type JsonObject, objectOf } from '../http/openapi/json.ts'
import { declareModels } from './models.ts'
import { declarePaths } from './tree.ts'
import { key, modelName } from './types.ts'

/** Payloads of webhooks by the word that `X-Gitea-Event-Type` has, each a reference to a model. */
export type Payloads = Readonly<Record<string, string>>

/**
 * The types of a client as the text of one declaration file, from the API description alone. Types written out need nobody's packages, and
 * cost the compiler nothing until they are used.
 * @param document OpenAPI 3.0, with the models of the payloads too
 */
export function declareClient(document: JsonObject, payloads: Payloads): string {
  const { schemas, responses } = objectOf(document.components)
  const paths = declarePaths(objectOf(document.paths), objectOf(responses))
  const text = [
    "import type { Answer, CallOptions, Refusal } from './answer.js'",
    "import type { ClientOptions } from './client.js'",
    declareModels(objectOf(schemas)),
    'type Call<Data, Status extends number, TextStatus extends number = never> = Promise<',
    'Answer<Data, Refusal<Status, APIError> | Refusal<TextStatus, APIError | string>>',
    '>',
    '/** Each path of the API: its steps are properties, its parameters are calls, and at its end stands a method. */',
    'export interface Client {',
    `api: { v1: ${paths} }`,
    '}',
    '/** What a webhook is sent, by the header `X-Gitea-Event-Type`. */',
    'export interface HookPayloads {',
    ...Object.entries(payloads).map(([event, reference]) => `${key(event)}: ${modelName(reference)}`),
    '}',
    '/**',
    ' * A client of the API: `createClient(url, { token }).api.v1.user.get()`.',
    ' * @param baseUrl address of the service, with the path it lives under, if any',
    ' */',
    'export declare function createClient(baseUrl: string, options?: ClientOptions): Client',
  ]
  return `${indented(text.join('\n'))}\n`
}

/** Two blanks for each brace that is open. */
function indented(text: string): string {
  let depth = 0
  const lines = text.split('\n').map((line) => {
    if (line.startsWith('}')) depth -= 1
    const shown = line === '' ? line : '  '.repeat(depth) + line
    if (line.endsWith('{')) depth += 1
    return shown
  })
  return lines.join('\n')
}
