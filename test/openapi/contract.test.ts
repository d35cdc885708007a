import { beforeAll, expect, test } from 'bun:test'
import { describeApi } from '../../src/http/openapi.ts'
import { type ContractChecker, ContractViolation, createContractChecker, type Exchange } from '../harness/contract.ts'
import { toy } from './toy.ts'

let checker: ContractChecker
beforeAll(async () => {
  const about = { title: 'Toy', version: '1', baseUrl: 'http://localhost/forge' }
  checker = createContractChecker(await describeApi(toy(), about))
})

const user = { id: 1, login: 'ann', email: null }
const label = { name: 'a', kind: null }
const thing = { id: 1, owner: user, reviewer: null, labels: [label], units: { a: 'b' }, pair: ['a', 1], color: 'red' }

/** An exchange below the API's prefix with a JSON body. */
function exchange(method: string, path: string, status: number, body?: unknown): Exchange {
  const text = body === undefined ? '' : JSON.stringify(body)
  return {
    method,
    pathname: `/forge/api/v1${path}`,
    status,
    headers: ofType('application/json;charset=utf-8'),
    body: text,
  }
}

const ofType = (type: string, more: Record<string, string> = {}) =>
  new Headers({ 'content-type': type, etag: 'W/"1"', ...more })

const untagged = (seen: Exchange): Exchange => ({
  ...seen,
  headers: new Headers({ 'content-type': 'application/json' }),
})

/** A list as it is described, with its headers. */
const list = (headers: Record<string, string>): Exchange => ({
  ...exchange('GET', '/repos/a/b/things', 200, [thing, { ...thing, reviewer: user, size: 1 }]),
  headers: ofType('application/json', headers),
})

test.each([
  exchange('GET', '/version', 200, { version: '1' }),
  exchange('GET', '/version/', 200, { version: '1' }),
  exchange('HEAD', '/version', 200),
  exchange('GET', '/version', 304),
  exchange('GET', '/user', 401, { message: 'token is required', url: 'x' }),
  list({ 'x-total-count': '2' }),
  list({ 'x-total-count': '9', link: '<x>; rel="next"' }),
  exchange('GET', '/repos/a/b/things/7', 200, { ...thing, nothing: null }),
  exchange('DELETE', '/repos/a/b/things/7', 204),
  exchange('PUT', '/version', 405),
  exchange('GET', '/no/such/route', 404, 'not JSON of ours'),
  exchange('OPTIONS', '/version', 204),
  {
    ...exchange('GET', '/repos/a/b/raw/docs/deep/file', 200),
    headers: ofType('application/octet-stream'),
    body: 'bytes',
  },
  {
    ...exchange('GET', '/repos/a/b/commits/abc.diff', 200),
    headers: ofType('text/plain; charset=utf-8'),
    body: 'diff',
  },
  { ...exchange('GET', '', 200), pathname: '/a/page', headers: ofType('text/html'), body: '<p>' },
])('%o is as described', (seen) => {
  expect(() => checker.check(seen)).not.toThrow()
})

test.each([
  ['an undescribed operation', exchange('PUT', '/version', 200, {}), 'no such path and method'],
  ['an unlisted status', exchange('GET', '/version', 409, { message: 'x' }), 'the status is not listed'],
  ['a missing key', exchange('GET', '/version', 200, {}), "must have required property 'version'"],
  ['a key too much', exchange('GET', '/version', 200, { version: '1', secret: 'x' }), '(secret)'],
  [
    'a key too much deep inside',
    exchange('GET', '/repos/a/b/things/7', 200, { ...thing, owner: { ...user, hash: '' } }),
    '(hash)',
  ],
  ['a wrong type', exchange('GET', '/user', 200, { ...user, id: '1' }), '/id must be integer'],
  ['a null where none may be', exchange('GET', '/user', 200, { ...user, login: null }), '/login must be string'],
  ['a bound passed', exchange('GET', '/repos/a/b/things/7', 200, { ...thing, id: 0 }), '/id must be > 0'],
  ['an error without a message', exchange('GET', '/user', 403, { url: 'x' }), "must have required property 'message'"],
  ['a body where none is described', exchange('DELETE', '/repos/a/b/things/7', 204, {}), 'has a body'],
  ['no body where JSON is described', exchange('GET', '/user', 200), 'the body is empty'],
  ['an answer without its tag', untagged(exchange('GET', '/version', 200, { version: '1' })), 'ETag is missing'],
  ['a list without its total', list({}), 'X-Total-Count is missing'],
  [
    'an undescribed header',
    { ...exchange('GET', '/user', 200, user), headers: ofType('application/json', { link: 'x' }) },
    'Link is not described',
  ],
  ['another media type', { ...exchange('GET', '/user', 200, user), headers: ofType('text/html') }, 'is text/html'],
  ['broken JSON', { ...exchange('GET', '/user', 200), body: '{' }, 'the body is not JSON'],
])('%s is a violation', (_, seen, message) => {
  expect(() => checker.check(seen)).toThrow(message)
  expect(() => checker.check(seen)).toThrow(ContractViolation)
})
