import { isList, isObject, type Json, type JsonObject, listOf, objectOf, stringsOf } from '../http/openapi/json.ts'

/** The TypeScript of a schema of OpenAPI 3.0, as http/openapi/schemas.ts writes them. */
export function typeOf(schema: Json | undefined): string {
  if (!isObject(schema)) return 'unknown'
  const type = typeWithoutNull(schema)
  return schema.nullable === true && !listOf(schema.enum).includes(null) ? `${type} | null` : type
}

function typeWithoutNull(schema: JsonObject): string {
  if (typeof schema.$ref === 'string') return modelName(schema.$ref)
  if (isList(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (isList(schema.allOf)) return schema.allOf.map((part) => grouped(typeOf(part))).join(' & ')
  if (isList(schema.anyOf)) return [...new Set(schema.anyOf.map(typeOf))].join(' | ')
  switch (schema.type) {
    case 'string':
      return schema.format === 'binary' ? 'Blob' : 'string'
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'array':
      return `${grouped(typeOf(schema.items))}[]`
    case 'object':
      return objectType(schema)
    default:
      return 'unknown'
  }
}

export const modelName = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1)

/** Beside an operator that binds more strongly. */
const grouped = (type: string): string => (/ [|&] /.test(type) ? `(${type})` : type)

function objectType(schema: JsonObject): string {
  const rest = schema.additionalProperties
  const open = `{ [name: string]: ${isObject(rest) ? typeOf(rest) : 'unknown'} }`
  if (!isObject(schema.properties)) return open
  const closed = `{\n${membersOf(schema)}}`
  return isObject(rest) || rest === true ? `${closed} & ${open}` : closed
}

/** The properties of an object, each on lines of its own. */
export function membersOf(schema: JsonObject): string {
  const required = new Set(stringsOf(schema.required))
  return Object.entries(objectOf(schema.properties))
    .map(([name, property]) => {
      const mark = required.has(name) ? '' : '?'
      return `${commentOf(objectOf(property).description)}${key(name)}${mark}: ${typeOf(property)}\n`
    })
    .join('')
}

/** A name as it can stand in front of a colon. */
export const key = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))

/** A doc comment on lines of its own; empty without a text. */
export function commentOf(...texts: (Json | undefined)[]): string {
  const said = texts.filter((text) => typeof text === 'string' && text !== '').join('\n')
  const lines = said.replaceAll('*/', '*\\/').split(/\n+/)
  if (said === '') return ''
  return lines.length === 1 ? `/** ${lines[0]} */\n` : `/**\n${lines.map((line) => ` * ${line}\n`).join('')} */\n`
}
