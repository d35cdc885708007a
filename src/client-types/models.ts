import { type Json, type JsonObject, objectOf } from '../http/openapi/json.ts'
import { commentOf, membersOf, typeOf } from './types.ts'

/** Every named schema as a type of its name. */
export const declareModels = (schemas: JsonObject): string =>
  Object.entries(schemas)
    .map(([name, schema]) => commentOf(objectOf(schema).description) + declareModel(name, schema))
    .join('\n')

function declareModel(name: string, schema: Json): string {
  const model = objectOf(schema)
  const isPlain = model.type === 'object' && model.additionalProperties === undefined && model.nullable !== true
  return isPlain ? `export interface ${name} {\n${membersOf(model)}}\n` : `export type ${name} = ${typeOf(model)}\n`
}
