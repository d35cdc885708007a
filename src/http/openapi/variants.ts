import { isObject, type Json, type JsonObject, listOf, objectOf } from './json.ts'

export interface Variant {
  suffix: string
  operation: JsonObject
}

/**
 * The further operations that one route serves. The Gitea API has both `/commits/{sha}` and `/commits/{sha}.{diffType}`;
 * Elysia's router cannot distinguish them, so one route takes both and names the second in `x-variants`.
 */
export const describeVariants = (emitted: JsonObject, operation: JsonObject): Variant[] =>
  listOf(emitted['x-variants'])
    .filter(isObject)
    .map((variant) => describeVariant(variant, operation))

function describeVariant(variant: JsonObject, operation: JsonObject): Variant {
  const { suffix, values, operationId, summary, produces } = variant
  const name = /\{(\w+)\}/.exec(String(suffix))?.[1]
  if (name === undefined) throw new Error(`the suffix ${suffix} has no parameter`)
  const parameter: JsonObject = { name, in: 'path', required: true, schema: { type: 'string', enum: listOf(values) } }
  const content: JsonObject = { [String(produces)]: { schema: { type: 'string' } } }
  const responses: Json = { ...objectOf(operation.responses), 200: { description: 'Done.', content } }
  const parameters = [...listOf(operation.parameters), parameter]
  return {
    suffix: String(suffix),
    operation: { ...operation, operationId: operationId ?? null, summary: summary ?? null, parameters, responses },
  }
}
