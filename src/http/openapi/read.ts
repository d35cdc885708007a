import type { Json, JsonObject } from './json.ts'

/**
 * The JSON of a TypeBox schema: symbols, functions and undefined are left out. An object met again gives the same
 * result, so that shared schemas are read once.
 *
 * `additionalProperties: false` is left out too. Elysia writes it into the schema objects of a route when it compiles
 * the route, so it would depend on what was asked before; and it would be wrong of bodies, where unknown keys are
 * ignored.
 */
export function readSchema(value: unknown, known: WeakMap<object, Json>): Json {
  if (value === null || typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string')
    return value
  if (typeof value !== 'object') return null
  const earlier = known.get(value)
  if (earlier !== undefined) return earlier
  const json = Array.isArray(value) ? value.map((item) => readSchema(item, known)) : readMembers(value, known)
  known.set(value, json)
  return json
}

function readMembers(value: object, known: WeakMap<object, Json>): JsonObject {
  const members: JsonObject = {}
  for (const [key, member] of Object.entries(value)) {
    const isClosing = key === 'additionalProperties' && member === false
    if (member !== undefined && typeof member !== 'function' && !isClosing) members[key] = readSchema(member, known)
  }
  return members
}
