import { afterAll, beforeAll, expect, test } from 'bun:test'
import { isObject, type JsonObject, listOf, objectOf, parseJson } from '../../src/http/openapi/json.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'
import { recordStatements } from '../harness/statements.ts'

/**
 * Every list that a request may hold. The operations come from the API description, so a new list is in the test by itself. A list
 * without an end, or with a condition for each value, once stopped the service for 20 s.
 */
let service: TestService
let owner: TestUser
let document: JsonObject
beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser('owner')
  await service.createRepository(owner, { name: 'listed', auto_init: true })
  await owner.client.post('/orgs', { username: 'guild' })
  document = objectOf(parseJson((await service.anonymous.get('/swagger.v1.json')).text))
}, 30_000)
afterAll(() => service.stop())

interface Operation {
  method: string
  path: string
  operation: JsonObject
}

const operations = (): Operation[] =>
  Object.entries(objectOf(document.paths)).flatMap(([path, item]) =>
    Object.entries(objectOf(item)).map(([method, operation]) => ({ method, path, operation: objectOf(operation) })),
  )

const NAMES: Record<string, string> = {
  owner: 'owner',
  repo: 'listed',
  org: 'guild',
  archive: 'main.zip',
  filepath: 'README.md',
}

const values = (count: number): string => Array.from({ length: count }, (_, index) => `n"\\{${index}}`).join(',')

test('a list in a query is one condition, and may have a hundred values', async () => {
  const statements = recordStatements(service.context)
  const ask = async ({ method, path }: Operation, name: string, count: number) => {
    const target = path.replace(/\{(\w+)\}/g, (_, word: string) => NAMES[word] ?? '1')
    statements.clear()
    const caller = path.startsWith('/admin/') ? service.admin : owner
    const answer = await caller.client.request(target, {
      method: method.toUpperCase(),
      query: { [name]: values(count) },
    })
    return { status: answer.status, sent: statements.texts() }
  }
  const asked: string[] = []
  for (const found of operations()) {
    const lists = listOf(found.operation.parameters)
      .map(objectOf)
      .filter(({ schema }) => objectOf(schema).type === 'array')
    for (const { name } of lists) {
      const title = `${found.method} ${found.path} ${name}`
      asked.push(title)
      // What is asked for the first time may read what is cached afterwards.
      await ask(found, String(name), 1)
      const [one, many, tooMany] = [
        await ask(found, String(name), 1),
        await ask(found, String(name), 100),
        await ask(found, String(name), 101),
      ]
      expect([title, many.status, many.sent]).toEqual([title, one.status, one.sent])
      expect([title, one.status === 422, tooMany.status]).toEqual([title, false, 422])
    }
  }
  statements.stop()
  expect(asked.length).toBeGreaterThan(7)
})

/** Lists whose further values are ignored instead (the names of files to read). */
const IGNORED_BEYOND = new Set(['GetFilesOptions.files'])

test('a list in a body has a limit', () => {
  const schemas = objectOf(objectOf(document.components).schemas)
  const open = new Set<string>()
  let seen = 0
  const visit = (schema: JsonObject, name: string): void => {
    if (typeof schema.$ref === 'string') {
      const model = schema.$ref.split('/').at(-1) ?? ''
      visit(objectOf(schemas[model]), model)
      return
    }
    if (schema.type === 'array') {
      seen += 1
      if (typeof schema.maxItems !== 'number' && !IGNORED_BEYOND.has(name)) open.add(name)
      visit(objectOf(schema.items), name)
    }
    for (const [key, property] of Object.entries(objectOf(schema.properties)))
      visit(objectOf(property), `${name}.${key}`)
    for (const branch of [...listOf(schema.anyOf), ...listOf(schema.allOf)]) if (isObject(branch)) visit(branch, name)
  }
  for (const { method, path, operation } of operations())
    for (const content of Object.values(objectOf(objectOf(operation.requestBody).content)))
      visit(objectOf(objectOf(content).schema), `${method} ${path}`)
  expect([...open]).toEqual([])
  expect(seen).toBeGreaterThan(8)
})
