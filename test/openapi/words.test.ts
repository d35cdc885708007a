import { beforeAll, expect, test } from 'bun:test'
import { describeRoutes } from '../../src/app/describe.ts'
import { apiWords } from '../../src/http/openapi/glossary/glossary.ts'
import { isObject, type Json, type JsonObject, listOf, objectOf } from '../../src/http/openapi/json.ts'
import { Models } from '../../src/http/openapi/schemas.ts'
import { hookPayloads } from '../../src/wire/hook-schema.ts'

/** What readers see: the API, and the payloads of webhooks that clients have the types of. */
let seen: JsonObject
let operations: JsonObject[]
beforeAll(async () => {
  const document = await describeRoutes()
  const models = new Models(apiWords)
  for (const schema of Object.values(hookPayloads)) models.describe(schema)
  seen = { document, payloads: models.components() }
  operations = Object.values(objectOf(document.paths)).flatMap((item) => Object.values(objectOf(item)).map(objectOf))
})

const isExplained = ({ description }: JsonObject): boolean => typeof description === 'string' && description !== ''

/** Each property of each schema inside a value, with the names that lead to it. */
function propertiesIn(value: Json | undefined, place: string): [place: string, schema: JsonObject][] {
  if (Array.isArray(value)) return value.flatMap((item) => propertiesIn(item, place))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    const own = key === 'properties' ? Object.entries(objectOf(inner)) : []
    return [
      ...own.map(([name, schema]): [string, JsonObject] => [`${place}.${name}`, objectOf(schema)]),
      ...propertiesIn(inner, `${place}.${key}`),
    ]
  })
}

test('every operation says what it does and who may ask', () => {
  expect(operations.length).toBeGreaterThan(0)
  expect(operations.filter((one) => !isExplained(one)).map((one) => one.operationId)).toEqual([])
})

test('every parameter says what it means', () => {
  const dumb = operations.flatMap(({ operationId, parameters }) =>
    listOf(parameters)
      .map(objectOf)
      .filter((parameter) => !isExplained(parameter))
      .map(({ name, in: place }) => `${operationId}: ${name} (${place})`),
  )
  expect(dumb).toEqual([])
})

test('every property says what it means', () => {
  const properties = propertiesIn(seen, '')
  expect(properties.length).toBeGreaterThan(1000)
  expect(properties.filter(([, schema]) => !isExplained(schema)).map(([place]) => place)).toEqual([])
})

test('every group says what is in it', async () => {
  const groups = listOf(objectOf(seen.document).tags).map(objectOf)
  expect(groups.filter((one) => !isExplained(one)).map(({ name }) => name)).toEqual([])
  expect(groups[0]?.name).toBe('repository')
})

test('no word explains what there is not', () => {
  const said = new Set(
    [...JSON.stringify(seen).matchAll(/"description":("(?:[^"\\]|\\.)*")/g)].map(([, text = '']) => text),
  )
  const words = [apiWords.properties, apiWords.path, apiWords.query, apiWords.groups].flatMap((some) =>
    Object.entries(some),
  )
  expect(words.filter(([, text]) => !said.has(JSON.stringify(text))).map(([name]) => name)).toEqual([])
})
