import { isObject, type JsonObject, listOf, objectOf, stringsOf } from '../../src/http/openapi/json.ts'

export interface FoundOperation {
  path: string
  method: string
  operation: JsonObject
  /** The described answer of a status and the JSON pointer to it, with a reference already followed. */
  response(status: number): { response: JsonObject | undefined; pointer: string }
}

export interface OperationFinder {
  (method: string, pathname: string): FoundOperation | undefined
  /** Whether the document speaks about this part of the server at all. */
  isDescribed(pathname: string): boolean
}

/**
 * Finds the operation that a request belongs to. A literal segment wins over a parameter, as in the router; when no
 * path fits, the last parameter may hold slashes, which OpenAPI cannot say (`/contents/{filepath}`).
 */
export function operationFinder(document: JsonObject): OperationFinder {
  const [server] = listOf(document.servers)
  const base = String(objectOf(server).url ?? '')
  const routes = listOperations(document)
    .map((found) => ({ found, strict: pattern(found, false), open: pattern(found, true) }))
    .sort((a, b) => countFreeSegments(a.found.path) - countFreeSegments(b.found.path))
  const find = (method: string, pathname: string) => {
    const path = pathname.slice(base.length).replace(/(?<=.)\/$/, '')
    const candidates = routes.filter(({ found }) => found.method === method.toLowerCase())
    const hit = candidates.find(({ strict }) => strict.test(path)) ?? candidates.findLast(({ open }) => open.test(path))
    return hit?.found
  }
  return Object.assign(find, { isDescribed: (pathname: string) => pathname.startsWith(`${base}/`) })
}

function listOperations(document: JsonObject): FoundOperation[] {
  return Object.entries(objectOf(document.paths)).flatMap(([path, item]) =>
    Object.entries(objectOf(item))
      .filter(([, operation]) => isObject(operation))
      .map(([method, operation]) => {
        const responses = `/paths/${path.replaceAll('~', '~0').replaceAll('/', '~1')}/${method}/responses`
        const response = (status: number) => {
          const described = objectOf(objectOf(operation).responses)[String(status)]
          if (!isObject(described)) return { response: undefined, pointer: '' }
          if (typeof described.$ref !== 'string') return { response: described, pointer: `${responses}/${status}` }
          const pointer = described.$ref.slice(1)
          return { response: follow(document, pointer), pointer }
        }
        return { path, method, operation: objectOf(operation), response }
      }),
  )
}

function follow(document: JsonObject, pointer: string): JsonObject {
  let at = document
  for (const key of pointer.split('/').slice(1)) at = objectOf(at[key])
  return at
}

/** Segments that are nothing but a parameter. */
const countFreeSegments = (path: string): number =>
  path.split('/').filter((segment) => /^\{\w+\}$/.test(segment)).length

function pattern({ path, operation }: FoundOperation, lastMayHoldSlashes: boolean): RegExp {
  const escaped = path.replace(/[.*+?^$()|[\]\\]/g, '\\$&')
  const last = escaped.lastIndexOf('{')
  const source = escaped.replace(/\{(\w+)\}/g, (_, name: string, at: number) => {
    const values = stringsOf(objectOf(parameter(operation, name).schema).enum)
    if (values.length > 0) return `(?:${values.join('|')})`
    return lastMayHoldSlashes && at === last ? '.+' : '[^/]+'
  })
  return new RegExp(`^${source}$`)
}

const parameter = (operation: JsonObject, name: string): JsonObject =>
  objectOf(listOf(operation.parameters).find((found) => objectOf(found).name === name))
