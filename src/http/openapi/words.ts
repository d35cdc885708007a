import { isObject, type JsonObject, listOf } from './json.ts'

/** Explanations for what does not explain itself, by name. */
export interface Words {
  /** By `Model.property`, or by the property alone; `Model.property.inner` where the property is an object without a name. */
  readonly properties: Readonly<Record<string, string>>
  /** By the step before it and the parameter (`hooks/{id}`), or by the parameter alone. */
  readonly path: Readonly<Record<string, string>>
  /** By `operationId.name`, or by the name alone. */
  readonly query: Readonly<Record<string, string>>
  /** By the name of the group (`tags` in OpenAPI), in the order that they are shown in. */
  readonly groups: Readonly<Record<string, string>>
  /** A value for a model, by its name. */
  readonly examples: Readonly<Record<string, JsonObject>>
}

export const noWords: Words = { properties: {}, path: {}, query: {}, examples: {}, groups: {} }

/**
 * A property, explained if it is not. A reference may have nothing beside it in 3.0, so that it is wrapped.
 * @param place the model that it is of, or `Model.property` inside an object that has no name
 */
export function explainProperty(words: Words, schema: JsonObject, place: string, name: string): JsonObject {
  const [model] = place.split('.')
  const names = [`${place}.${name}`, `${model}.${name}`, name]
  const description = names.map((one) => words.properties[one]).find((found) => found !== undefined)
  if (schema.description !== undefined || description === undefined) return schema
  return schema.$ref === undefined ? { ...schema, description } : { allOf: [schema], description }
}

/** An operation with its parameters explained. */
export function explainParameters(words: Words, path: string, operation: JsonObject): JsonObject {
  const parameters = listOf(operation.parameters).filter(isObject)
  if (parameters.length === 0) return operation
  return {
    ...operation,
    parameters: parameters.map((parameter) => {
      const { name, in: place } = parameter
      const before = new RegExp(`[^/]+/\\{${name}\\}`).exec(path)?.[0] ?? ''
      const own = place === 'path' ? words.path[before] : words.query[`${operation.operationId}.${name}`]
      const description = parameter.description ?? own ?? words[place === 'path' ? 'path' : 'query'][String(name)]
      return description === undefined ? parameter : { ...parameter, description }
    }),
  }
}
