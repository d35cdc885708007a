import { isDeepStrictEqual } from 'node:util'
import { isList, isObject, type Json, type JsonObject, listOf, objectOf, pick, stringsOf } from './json.ts'
import { readSchema } from './read.ts'
import { explainProperty, noWords, type Words } from './words.ts'

const COMPONENT = '#/components/schemas/'

/** The keys that a schema of OpenAPI 3.0 may have and that need no rewriting. Everything else is left out. */
const PLAIN_KEYS = new Set([
  ...['title', 'description', 'type', 'format', 'enum', 'default', 'example', 'deprecated', 'readOnly', 'writeOnly'],
  ...['multipleOf', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minLength', 'maxLength', 'pattern'],
  ...['minItems', 'maxItems', 'uniqueItems', 'minProperties', 'maxProperties', 'required', 'nullable'],
])

/** What a reference may not carry beside it in 3.0, so that it moves to the schema around the reference. */
const ANNOTATIONS = new Set(['title', 'description', 'default', 'example', 'deprecated', 'readOnly', 'writeOnly'])

/** The string forms by which Elysia's types accept a number, a boolean or an object written as text. */
const TEXT_FORMS = new Set(['integer', 'numeric', 'number', 'boolean', 'ObjectString', 'ArrayString'])

/** Named schemas met so far: the same name must always mean the same shape. */
export class Models {
  private readonly raw = new Map<string, JsonObject>()
  private readonly plain = new Map<string, Json>()
  private readonly read = new WeakMap<object, Json>()

  readonly words: Words

  constructor(words: Words = noWords) {
    this.words = words
  }

  /** A schema of a route as OpenAPI has it. */
  describe(schema: object): JsonObject {
    return plainSchema(readSchema(schema, this.read), this)
  }

  /** Keeps a named schema and gives the reference to it. @throws Error when the name already means another shape. */
  hoist(id: string, schema: JsonObject): JsonObject {
    const known = this.raw.get(id)
    if (known === undefined) {
      this.raw.set(id, schema)
      const example = this.words.examples[id]
      this.plain.set(id, { ...describeSchema(schema, this, id), ...(example && { example }) })
    } else if (known !== schema && !isDeepStrictEqual(known, schema)) {
      throw new Error(`two different schemas are called ${id}`)
    }
    return { $ref: COMPONENT + id }
  }

  /** All models by name, in alphabetical order. */
  components(): JsonObject {
    const named = [...this.plain].sort(([a], [b]) => (a < b ? -1 : 1))
    return Object.fromEntries(named)
  }
}

/**
 * A schema as TypeBox wrote it, turned into one that OpenAPI 3.0 knows; nested named ones become references.
 * @param place where it stands, for the words that explain it
 */
export function plainSchema(schema: Json | undefined, models: Models, place = ''): JsonObject {
  if (!isObject(schema)) return {}
  return typeof schema.$id === 'string' ? models.hoist(schema.$id, schema) : describeSchema(schema, models, place)
}

function describeSchema(schema: JsonObject, models: Models, place: string): JsonObject {
  if (typeof schema.$ref === 'string') return { $ref: COMPONENT + schema.$ref.replace(COMPONENT, '') }
  // A value that is read leniently is described as what it is meant to be (http/query.ts).
  if (isObject(schema['x-shown'])) return { ...schema['x-shown'], ...pick(schema, ANNOTATIONS) }
  const branches = schema.anyOf ?? schema.oneOf
  if (isList(branches)) return describeUnion(schema, branches, models, place)
  // 3.0 has no type of null alone.
  if (schema.type === 'null') return { type: 'object', enum: [null], nullable: true, ...pick(schema, ANNOTATIONS) }
  const plain = pick(schema, PLAIN_KEYS)
  if (isList(schema.type)) Object.assign(plain, describeTypeList(schema.type))
  if (schema.const !== undefined) plain.enum = [schema.const]
  const [example] = listOf(schema.examples)
  if (example !== undefined) plain.example = example
  describeBounds(schema, plain)
  describeMembers(schema, plain, models, place)
  if (isList(schema.allOf)) plain.allOf = schema.allOf.map((part) => plainSchema(part, models, place))
  if (isObject(schema.not)) plain.not = plainSchema(schema.not, models)
  return plain
}

/** `["string", "null"]` is JSON Schema; 3.0 says it with `nullable`. */
function describeTypeList(types: readonly Json[]): JsonObject {
  const named = stringsOf(types).filter((type) => type !== 'null')
  const nullable: JsonObject = types.includes('null') ? { nullable: true } : {}
  const [only, ...others] = named
  if (only === undefined || others.length > 0)
    throw new Error(`a schema has the types ${named.join(', ')}: use a union`)
  return { type: only, ...nullable }
}

/** Exclusive bounds are numbers in JSON Schema and flags beside the bound in 3.0. */
function describeBounds(schema: JsonObject, plain: JsonObject): void {
  for (const [flag, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    const value = schema[flag]
    if (typeof value === 'number') Object.assign(plain, { [bound]: value, [flag]: true })
  }
}

function describeMembers(schema: JsonObject, plain: JsonObject, models: Models, place: string): void {
  if (isObject(schema.properties)) {
    plain.properties = mapEntries(schema.properties, (name, property) =>
      explainProperty(models.words, plainSchema(property, models, `${place}.${name}`), place, name),
    )
  }
  if (isObject(schema.items)) plain.items = plainSchema(schema.items, models, place)
  // 3.0 has no tuples: an item may be any of the tuple's types.
  if (isList(schema.items)) plain.items = plainSchema({ anyOf: schema.items }, models)
  else if (schema.type === 'array' && plain.items === undefined) plain.items = {}
  const [pattern] = Object.values(objectOf(schema.patternProperties))
  const rest = schema.additionalProperties ?? pattern
  if (typeof rest === 'boolean') plain.additionalProperties = rest
  else if (rest !== undefined) plain.additionalProperties = plainSchema(rest, models, place)
}

function describeUnion(schema: JsonObject, branches: readonly Json[], models: Models, place: string): JsonObject {
  const notes = pick(schema, ANNOTATIONS)
  const parts = branches.filter((branch) => !isNullType(branch))
  if (parts.length < branches.length || schema.nullable === true) notes.nullable = true
  const date = parts.find((part) => isObject(part) && part.type === 'Date')
  if (date !== undefined) return { type: 'string', format: 'date-time', ...notes }
  const described = withoutTextForms(parts).map((part) => plainSchema(part, models, place))
  const choice = mergeChoices(described, notes.nullable === true)
  if (choice !== undefined) return { ...choice, ...notes }
  const [only, ...others] = described
  if (only === undefined || others.length > 0) return { anyOf: described, ...notes }
  if (typeof only.$ref === 'string') return Object.keys(notes).length === 0 ? only : { allOf: [only], ...notes }
  return { ...only, ...notes }
}

const isNullType = (branch: Json): boolean => isObject(branch) && branch.type === 'null'

/** `t.Integer()` and its like are unions of the type with its text form; the text form says nothing to a client. */
function withoutTextForms(branches: readonly Json[]): readonly Json[] {
  const isTextForm = (branch: Json) => isObject(branch) && TEXT_FORMS.has(String(branch.format))
  const typed = branches.filter((branch) => !isTextForm(branch))
  return typed.length > 0 ? typed : branches
}

/** Literals of one type are one `enum`; where null is allowed, 3.0 wants it among the values too. */
function mergeChoices(branches: readonly JsonObject[], orNull: boolean): JsonObject | undefined {
  const [first] = branches
  const areLiterals = branches.every(
    ({ type, enum: values, ...rest }) => type === first?.type && isList(values) && Object.keys(rest).length === 0,
  )
  if (first === undefined || !areLiterals) return undefined
  const values = [...branches.flatMap((branch) => listOf(branch.enum)), ...(orNull ? [null] : [])]
  return { ...(first.type === undefined ? {} : { type: first.type }), enum: values }
}

const mapEntries = (from: JsonObject, map: (name: string, value: Json) => Json): JsonObject =>
  Object.fromEntries(Object.entries(from).map(([key, value]) => [key, map(key, value)]))
