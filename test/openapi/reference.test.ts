import { afterAll, beforeAll, expect, test } from 'bun:test'
import { describeApi } from '../../src/http/openapi.ts'
import { referenceRoutes } from '../../src/http/reference.ts'
import { toy } from './toy.ts'

let origin: string
let stop: () => void
let described = 0

beforeAll(() => {
  const app = toy()
  const about = { title: 'Toy', version: '1.2.3', baseUrl: 'http://localhost' }
  app.use(
    referenceRoutes(() => {
      described += 1
      return describeApi(app, about)
    }),
  )
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: app.fetch })
  origin = `http://127.0.0.1:${server.port}`
  stop = () => server.stop(true)
})
afterAll(() => stop())

const get = (path: string, headers: Record<string, string> = {}) => fetch(origin + path, { headers, decompress: false })

test('the document is JSON with a tag, and made once for many requests', async () => {
  const answers = await Promise.all([1, 2, 3].map(() => get('/swagger.v1.json', { 'accept-encoding': 'identity' })))
  for (const answer of answers) {
    expect(answer.headers.get('content-type')).toBe('application/json;charset=utf-8')
    expect(await answer.json()).toMatchObject({ openapi: '3.0.3', info: { title: 'Toy' } })
  }
  expect(described).toBe(1)
})

test('it is sent compressed to who accepts that', async () => {
  const packed = await get('/swagger.v1.json', { 'accept-encoding': 'br, gzip;q=0.8' })
  expect(packed.headers.get('content-encoding')).toBe('gzip')
  expect(packed.headers.get('vary')).toBe('accept-encoding')
  expect(JSON.parse(new TextDecoder().decode(Bun.gunzipSync(await packed.arrayBuffer())))).toHaveProperty('paths')
  const refused = await get('/swagger.v1.json', { 'accept-encoding': 'gzip;q=0' })
  expect(refused.headers.get('content-encoding')).toBeNull()
})

test('a client that has it is told so', async () => {
  const tag = (await get('/swagger.v1.json')).headers.get('etag') ?? ''
  const again = await get('/swagger.v1.json', { 'if-none-match': `"other", ${tag}` })
  expect(again.status).toBe(304)
  expect(await again.text()).toBe('')
  expect((await get('/swagger.v1.json', { 'if-none-match': '"other"' })).status).toBe(200)
})

test('HEAD answers the heads alone', async () => {
  const answer = await fetch(`${origin}/swagger.v1.json`, { method: 'HEAD' })
  expect([answer.status, await answer.text()]).toEqual([200, ''])
})

test('the page allows no script but its own, and names nobody else', async () => {
  const answer = await get('/api/swagger', { 'accept-encoding': 'identity' })
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self';")
  const html = await answer.text()
  expect(html).not.toMatch(/https?:|<script>|\son\w+=/)
})

test('every asset of the page is served, for ever cacheable, and other versions are not', async () => {
  const html = await (await get('/api/swagger', { 'accept-encoding': 'identity' })).text()
  const paths = [...html.matchAll(/(?:src|href)="\.\.(\/assets[^"]+)"/g)].map(([, path]) => path ?? '')
  expect(paths.length).toBe(3)
  for (const path of paths) {
    const asset = await get(path)
    expect(asset.status).toBe(200)
    expect(asset.headers.get('cache-control')).toContain('immutable')
    expect(asset.headers.get('content-type')).toMatch(/^text\/(css|javascript)/)
    expect((await get(path.replace('/swagger/', '/swagger/0'))).status).toBe(404)
  }
})
