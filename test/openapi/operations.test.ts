import { afterAll, beforeAll, expect, test } from 'bun:test'
import { resolve } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import { isObject, type JsonObject, listOf, objectOf, parseJson, stringsOf } from '../../src/http/openapi/json.ts'
import { startTestService, type TestService } from '../harness/service.ts'

interface Operation {
  /** `GET /repos/{owner}/{repo}`. */
  route: string
  operation: JsonObject
}

let service: TestService
let document: JsonObject
let operations: Operation[]
/** What Gitea has: route to operationId and tag, and operationId to route. */
const gitea = new Map<string, { id: string; tag: string }>()
const giteaRoutes = new Map<string, string>()

beforeAll(async () => {
  service = await startTestService()
  document = objectOf(parseJson((await service.anonymous.get('/swagger.v1.json')).text))
  operations = Object.entries(objectOf(document.paths)).flatMap(([path, item]) =>
    Object.entries(objectOf(item)).map(([method, operation]) => ({
      route: `${method.toUpperCase()} ${path}`,
      operation: objectOf(operation),
    })),
  )
  const facts = await Bun.file(resolve(import.meta.dir, 'operations.tsv')).text()
  for (const line of facts.trim().split('\n').slice(1)) {
    const [method, path, id = '', tag = ''] = line.split('\t')
    gitea.set(`${method} ${path}`, { id, tag })
    giteaRoutes.set(id, `${method} ${path}`)
  }
})
afterAll(() => service.stop())

const idOf = ({ operation }: Operation) => String(operation.operationId)

test('an independent validator finds the description of the whole application valid', async () => {
  const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(document)))
  expect(errors ?? []).toEqual([])
  expect(valid).toBe(true)
})

test('every operation has a summary, one tag and an operationId of its own', () => {
  expect(operations.length).toBeGreaterThan(0)
  const incomplete = operations.filter(
    ({ operation }) => typeof operation.summary !== 'string' || stringsOf(operation.tags).length !== 1,
  )
  expect(incomplete.map(({ route }) => route)).toEqual([])
  const ids = operations.map(idOf)
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
})

test("what Gitea has too is called and filed as there, parameters' names included", () => {
  const differing = operations.flatMap(({ route, operation }) => {
    const known = gitea.get(route)
    const ours = `${operation.operationId} (${stringsOf(operation.tags)})`
    return known === undefined || ours === `${known.id} (${known.tag})`
      ? []
      : [`${route}: ${ours}, not ${known.id} (${known.tag})`]
  })
  expect(differing).toEqual([])
})

test("no operation has Gitea's name at another path", () => {
  const moved = operations.filter((found) => (giteaRoutes.get(idOf(found)) ?? found.route) !== found.route)
  expect(moved.map((found) => `${idOf(found)}: ${found.route}, not ${giteaRoutes.get(idOf(found))}`)).toEqual([])
})

test('every operation stands behind a gate, which shows in its statuses', () => {
  const open = operations.filter(({ operation }) => objectOf(operation.responses)['401'] === undefined)
  expect(open.map(({ route }) => route)).toEqual([])
})

test('every JSON answer and body is a named model, or a list or map of one or of plain values', () => {
  const unnamed = operations.flatMap(({ route, operation }) => {
    const answers = Object.values(objectOf(operation.responses)).map((response) => objectOf(response).content)
    const contents = [...answers, objectOf(operation.requestBody).content].map(objectOf)
    const schemas = contents.map((content) => objectOf(content['application/json']).schema).filter(isObject)
    return schemas.every(isNamed) ? [] : [route]
  })
  expect(unnamed).toEqual([])
})

/** A reference, a plain value, or a list or map of such. */
function isNamed(schema: JsonObject): boolean {
  const inner = schema.items ?? schema.additionalProperties
  if (typeof schema.$ref === 'string') return true
  return isObject(inner) ? isNamed(inner) : schema.properties === undefined && listOf(schema.anyOf).length === 0
}

test('ENABLE_SWAGGER=false removes the description and its page', async () => {
  const silent = await startTestService({ settings: { ENABLE_SWAGGER: 'false' } })
  try {
    for (const path of ['/swagger.v1.json', '/api/swagger']) expect((await silent.anonymous.get(path)).status).toBe(404)
  } finally {
    await silent.stop()
  }
})
