import { beforeAll, expect, test } from 'bun:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Elysia, t } from 'elysia'
import { type Json, type JsonObject, listOf, objectOf } from '../../src/http/openapi/json.ts'
import { describeApi } from '../../src/http/openapi.ts'
import { toy } from './toy.ts'

const about = { title: 'Toy', version: '1.2.3', baseUrl: 'http://localhost:3000/forge' }

let document: JsonObject
beforeAll(async () => {
  document = await describeApi(toy(), about)
})

/** The value below a list of keys; undefined when one is missing. */
function at(...keys: string[]): Json | undefined {
  let value: Json | undefined = document
  for (const key of keys) value = objectOf(value)[key]
  return value
}

const things = ['paths', '/repos/{owner}/{repo}/things']
const thing = ['paths', '/repos/{owner}/{repo}/things/{thing_id}']
const model = (name: string, property: string) => at('components', 'schemas', name, 'properties', property)

test('an independent validator finds the document valid', async () => {
  const { errors, valid } = await new Validator().validate(JSON.parse(JSON.stringify(document)))
  expect(errors ?? []).toEqual([])
  expect(valid).toBe(true)
})

test('nothing of the plugin or of our own notes is left in it', () => {
  const text = JSON.stringify(document)
  const strays = ['"$id"', '"x-', 'multipart', '"const"', 'patternProperties', '"null"', '"Date"', '"error":']
  expect(strays.filter((stray) => text.includes(stray))).toEqual([])
})

test('every named schema is one component, and the rest refer to it', () => {
  const names = ['APIError', 'CreateThing', 'Label', 'Node', 'ServerVersion', 'Thing', 'User']
  expect(Object.keys(objectOf(at('components', 'schemas')))).toEqual(names)
  expect(at(...things, 'get', 'responses', '200', 'content')).toEqual({
    'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/Thing' } } },
  })
  expect(at('components', 'schemas', 'Node', 'properties', 'children')).toEqual({
    type: 'array',
    items: { $ref: '#/components/schemas/Node' },
  })
})

test.each([
  ['t.Integer', 'User', 'id', { type: 'integer' }],
  ['an exclusive bound', 'Thing', 'id', { type: 'integer', minimum: 0, exclusiveMinimum: true }],
  ['a bound on t.Integer', 'Thing', 'size', { type: 'integer', minimum: 1 }],
  ['a nullable string', 'User', 'email', { type: 'string', nullable: true }],
  ['a nullable model', 'Thing', 'reviewer', { allOf: [{ $ref: '#/components/schemas/User' }], nullable: true }],
  ['nullable literals', 'Label', 'kind', { type: 'string', enum: ['open', 'closed', null], nullable: true }],
  ['a record', 'Thing', 'units', { type: 'object', additionalProperties: { type: 'string' } }],
  ['null alone', 'Thing', 'nothing', { type: 'object', enum: [null], nullable: true }],
  ['a date', 'Thing', 'made_at', { type: 'string', format: 'date-time' }],
  ['a literal', 'Thing', 'color', { type: 'string', enum: ['red'], description: 'Always red.' }],
  ['an example', 'CreateThing', 'name', { type: 'string', example: 'one' }],
])('%s becomes plain OpenAPI 3.0', (_, name, property, expected) => {
  expect(model(name, property)).toEqual(expected)
})

test('the description is the same before and after the routes were compiled', async () => {
  const app = toy()
  const before = await describeApi(app, about)
  for (const route of app.routes) route.compile()
  expect(await describeApi(app, about)).toEqual(before)
  expect(JSON.stringify(before)).not.toContain('"additionalProperties":false')
})

test('query parameters have plain types', () => {
  const parameters = listOf(at(...things, 'get', 'parameters')).map(objectOf)
  const query = parameters.filter((parameter) => parameter.in === 'query')
  expect(query.map(({ name, schema }) => [name, schema])).toEqual([
    ['page', { type: 'integer' }],
    ['q', { type: 'string' }],
    ['state', { type: 'string', enum: ['open', 'closed'] }],
    ['all', { type: 'boolean' }],
    ['limit', { type: 'integer' }],
    ['sort', { type: 'array', items: { type: 'string', enum: ['name', 'size'] } }],
  ])
  expect(query.map(({ description }) => description)).toEqual([
    ...[undefined, 'Part of the name.', undefined, undefined, 'Items on a page.', undefined],
  ])
})

test("path parameters have Gitea's names, once each, in the order of the path", () => {
  const names = listOf(at(...thing, 'get', 'parameters')).map((parameter) => objectOf(parameter).name)
  expect(names).toEqual(['owner', 'repo', 'thing_id'])
  expect(objectOf(listOf(at(...thing, 'get', 'parameters'))[2]).schema).toEqual({ type: 'number' })
})

test('a wildcard is a parameter, and its answer has the media type that the route names', () => {
  const raw = ['paths', '/repos/{owner}/{repo}/raw/{filepath}', 'get']
  expect(Object.keys(objectOf(at(...raw, 'responses', '200', 'content')))).toEqual(['application/octet-stream'])
})

test('a route that serves two operations is described as two', () => {
  const path = '/repos/{owner}/{repo}/commits/{sha}.{diffType}'
  expect(at('paths', path, 'get', 'operationId')).toBe('getCommitDiff')
  expect(Object.keys(objectOf(at('paths', path, 'get', 'responses', '200', 'content')))).toEqual(['text/plain'])
  expect(listOf(at('paths', path, 'get', 'parameters')).length).toBe(5)
})

test.each([
  ['a list', [...things, 'get'], '200 301 304 307 401 403 404 414 422 429 431 500 503 507'],
  ['a creation', [...things, 'post'], '201 301 307 401 403 404 409 413 414 422 423 429 431 500 503 507'],
  ['a removal', [...thing, 'delete'], '204 301 307 401 403 404 414 423 429 431 500 503 507'],
  [
    'lenient input',
    ['paths', '/repos/{owner}/{repo}/commits/{sha}', 'get'],
    '200 301 304 307 401 403 404 414 429 431 500 503 507',
  ],
  ['an open route', ['paths', '/version', 'get'], '200 304 401 403 404 414 429 431 500 503 507'],
])('%s lists every status that its gate, its input and its rules can give', (_, operation, statuses) => {
  expect(Object.keys(objectOf(at(...operation, 'responses'))).join(' ')).toBe(statuses)
})

test('a refusal that may be a sentence is described as text too', () => {
  const content = at(...thing, 'patch', 'responses', '400', 'content')
  expect(Object.keys(objectOf(content))).toEqual(['application/json', 'text/plain'])
})

test('a list names its headers, and refusals share one answer with the error model', () => {
  const headers = Object.keys(objectOf(at(...things, 'get', 'responses', '200', 'headers')))
  expect(headers).toEqual(['X-Total-Count', 'Link', 'ETag'])
  expect(Object.keys(objectOf(at(...things, 'get', 'responses', '304', 'headers')))).toEqual(headers)
  expect(at(...things, 'post', 'responses', '409')).toEqual({ $ref: '#/components/responses/Conflict' })
  expect(JSON.stringify(at('components', 'responses', 'Conflict'))).toContain('#/components/schemas/APIError')
})

test('what is read as JSON has a tag, and nothing else is promised one', () => {
  const headers = (...keys: string[]) => Object.keys(objectOf(at('paths', ...keys, 'headers')))
  expect(headers('/version', 'get', 'responses', '200')).toEqual(['ETag'])
  expect(at('paths', '/version', 'get', 'responses', '304')).toEqual({ $ref: '#/components/responses/NotModified' })
  expect(headers('/repos/{owner}/{repo}/raw/{filepath}', 'get', 'responses', '200')).toEqual([])
  expect(headers('/repos/{owner}/{repo}/things', 'post', 'responses', '201')).toEqual([])
})

test('an open route may be called without a credential, others may not', () => {
  expect(listOf(at('paths', '/version', 'get', 'security'))[0]).toEqual({})
  expect(at(...things, 'post', 'security')).toBeUndefined()
  expect(at('paths', '/repos/{owner}/{repo}/commits/{sha}', 'get', 'security')).toBeUndefined()
  expect(listOf(at('security'))).toContainEqual({ AuthorizationHeaderToken: [] })
  expect(listOf(at('security'))).not.toContainEqual({})
  expect(listOf(at('security'))).toContainEqual({ Session: [] })
  const cookie = { type: 'apiKey', in: 'cookie', name: '__Host-hearth_session' }
  expect(at('components', 'securitySchemes', 'Session')).toMatchObject(cookie)
})

test('an operation says who may ask, and with which scope', () => {
  expect(at(...things, 'post', 'description')).toBe(
    'Whoever may write to the issues of the repository. A token needs `write:issue`.',
  )
  expect(at(...things, 'get', 'description')).toBe('Whoever may read the code of the repository.')
  expect(at('paths', '/version', 'get', 'description')).toBe('For everybody.')
})

test('text is described as text, and a file as bytes', () => {
  const format = (type: string, ...keys: string[]) =>
    objectOf(objectOf(objectOf(at(...keys, 'responses', '200', 'content'))[type]).schema).format
  const raw = ['paths', '/repos/{owner}/{repo}/raw/{filepath}', 'get']
  expect(format('application/octet-stream', ...raw)).toBe('binary')
  expect(format('text/html', 'paths', '/rendered', 'get')).toBeUndefined()
})

test('only a body that a route needs is required', () => {
  expect(at(...things, 'post', 'requestBody', 'required')).toBe(true)
  expect(at(...thing, 'patch', 'requestBody', 'required')).toBeUndefined()
})

test('paths are relative to the API below the public address; pages and hidden routes are left out', () => {
  expect(at('servers')).toEqual([{ url: '/forge/api/v1' }])
  expect(Object.keys(objectOf(at('paths')))).not.toContain('/secret')
  expect(JSON.stringify(at('paths'))).not.toContain('/page')
})

test('two models of one name are refused', async () => {
  const one = t.Object({ a: t.String() }, { $id: 'Same' })
  const other = t.Object({ b: t.String() }, { $id: 'Same' })
  const app = new Elysia()
    .get('/api/v1/one', () => ({ a: '' }), { response: one })
    .get('/api/v1/other', () => ({ b: '' }), { response: other })
  await expect(describeApi(app, about)).rejects.toThrow('two different schemas are called Same')
})
