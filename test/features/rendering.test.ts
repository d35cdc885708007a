import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'
import { recordStatements } from '../harness/statements.ts'

let service: TestService
let alice: TestUser
let bob: TestUser
let open: TestRepository
let closed: TestRepository

beforeAll(async () => {
  service = await startTestService()
  alice = await service.createUser()
  bob = await service.createUser()
  open = await service.createRepository(alice, { auto_init: true })
  closed = await service.createRepository(alice, { private: true })
  for (const { path } of [open, closed]) await alice.client.post(`${path}/issues`, { title: 'one' })
})
afterAll(() => service.stop())

const markdown = (user: TestUser, option: Record<string, unknown>) => user.client.post('/markdown', option)
const comment = (user: TestUser, Text: string, Context = `${alice.name}/${open.name}`) =>
  markdown(user, { Text, Mode: 'comment', Context })

test('rendering needs somebody who signed in', async () => {
  for (const path of ['/markdown', '/markup', '/markdown/raw'])
    expect((await service.anonymous.post(path, { Text: 'x' })).status).toBe(401)
})

test('the answer is bare HTML, or a JSON string for those who ask for JSON', async () => {
  const bare = await markdown(alice, { Text: '*x*' })
  expect(bare.text).toBe('<p dir="auto"><em>x</em></p>\n')
  expect(bare.headers.get('content-type')).toBe('text/html;charset=utf-8')
  expect(bare.headers.get('content-security-policy')).toContain('sandbox')
  const json = await alice.client.request('/markdown', {
    method: 'POST',
    json: { Text: '*x*' },
    headers: { accept: 'application/json' },
  })
  expect(json.body).toBe('<p dir="auto"><em>x</em></p>\n')
})

test('the raw endpoint takes any media type as text', async () => {
  const send = (type: string) =>
    alice.client.request('/markdown/raw', { method: 'POST', body: '{"a": *b*}', headers: { 'content-type': type } })
  for (const type of ['text/plain', 'application/json', 'application/x-www-form-urlencoded'])
    expect((await send(type)).text).toBe('<p dir="auto">{&#34;a&#34;: <em>b</em>}</p>\n')
})

test('mentions and issues are linked only for those who may see them', async () => {
  const text = `@${alice.name} @nobody-of-this-name #1 ${alice.name}/${closed.name}#1 #99`
  const forAlice = await comment(alice, text)
  const forBob = await comment(bob, text)
  expect(forAlice.text).toContain(`href="${service.url}/${alice.name}/${closed.name}/issues/1"`)
  expect(forBob.text).not.toContain(`/${closed.name}/issues/1"`)
  for (const { text: html } of [forAlice, forBob]) {
    expect(html).toContain(`href="${service.url}/${alice.name}"`)
    expect(html).toContain(`href="${service.url}/${alice.name}/${open.name}/issues/1"`)
    expect(html).not.toContain('nobody-of-this-name"')
    expect(html).not.toContain('issues/99')
  }
})

test('however many repositories a text names, they are looked up by the same statements', async () => {
  const shas = 'deadbeef0123456789deadbeef0123456789dead'
  const texts = (count: number) =>
    Array.from({ length: count }, (_, index) => `${alice.name}/r${index}#${index + 1} ${alice.name}/r${index}@${shas}`)
  const statements = recordStatements(service.context)
  const sent: string[][] = []
  for (const count of [1, 1, 2, 30]) {
    statements.clear()
    await comment(alice, [...texts(count), `${alice.name}/${open.name}#1`].join(' '))
    sent.push(statements.texts().sort())
  }
  statements.stop()
  const [, one, two, many] = sent
  expect(one?.length).toBeGreaterThan(2)
  expect([two, many]).toEqual([one, one])
})

test('a short sha becomes a link to the commit that exists', async () => {
  const branch = await alice.client.get(`${open.path}/branches/main`)
  const sha = branch.string('commit.id')
  const { text } = await comment(bob, `see ${sha.slice(0, 10)} and ${sha} and deadbeef12`)
  expect(text.split(`/commit/${sha}"`).length).toBe(/^\d+$|^[a-f]+$/.test(sha.slice(0, 10)) ? 2 : 3)
  expect(text).toContain('and deadbeef12')
})

test.each([
  ['/markdown', { Mode: 'nosuch' }, 'unsupported render mode: nosuch\n'],
  ['/markup', { Mode: 'file', FilePath: 'x.nosuch' }, 'unable to find a render\n'],
])('%s refuses %j', async (path, option, message) => {
  const json = await alice.client.request(path, {
    method: 'POST',
    json: { Text: 'x', ...option },
    headers: { accept: 'application/json' },
  })
  expect([json.status, json.string('message')]).toEqual([422, message.trim()])
})

test('a file is rendered by its ending', async () => {
  const file = (FilePath: string, Text: string) => alice.client.post('/markup', { Mode: 'file', FilePath, Text })
  expect((await file('a.csv', 'a,b\n1,2')).text).toContain('<th>b</th>')
  expect((await file('a.tsv', 'a,b\tc')).text).toContain('<th>a,b</th>')
  expect((await file('a.org', '* Head')).text).toContain('<h2 id="user-content-headline-1">')
  expect((await file('a.adoc', '== Head')).text).toContain('Head</h2>')
  expect((await file('a.txt', '<b>')).text).toBe('<pre>&lt;b&gt;</pre>')
})

test.each([
  ['x.md', '[t](UP/x) ![i](UP/x.png) <a href="UP/x">t</a> <img src="UP/x.png"> [r]\n\n[r]: UP/x'],
  ['x.org', '[[file:UP/x][t]]\n[[UP/x.png]]'],
  ['x.adoc', 'link:UP/x[t] image:UP/x.png[i]\n\n++++\n<a href="UP/x">t</a>\n++++'],
  ['x.rst', '`t <UP/x>`_\n\n.. image:: UP/x.png\n   :target: UP/x\n'],
])('no relative link of %s leaves its repository', async (FilePath, text) => {
  const inside = `${service.url}/${alice.name}/${open.name}/`
  for (const up of [
    '../../../../..',
    '/../../../../..',
    '..%2f..%2f..%2f..%2f..',
    '..\\..\\..\\..\\..',
    '%2e%2e/%2e%2e/%2e%2e/%2e%2e',
  ])
    for (const [path, Context] of [
      ['/markup', `/${alice.name}/${open.name}/src/branch/main`],
      [`${open.path}/markup`, ''],
    ] as const) {
      const { text: html } = await alice.client.post(path, {
        Mode: 'file',
        FilePath,
        Context,
        Text: text.replaceAll('UP', up),
      })
      const addresses = Array.from(html.matchAll(/(?:href|src)="([^"]*)"/g), ([, address = '']) => address)
      expect(addresses.length).toBeGreaterThan(1)
      expect(
        addresses
          .map((address) => decodeURIComponent(new URL(address).href))
          .filter((url) => !url.startsWith(inside) || /[/\\]\.\.(?:[/\\]|$)/.test(url)),
      ).toEqual([])
    }
})

test('a commit is named in full in SHA-256 too, and by its repository elsewhere', async () => {
  const { name, path } = await service.createRepository(alice, { auto_init: true, object_format_name: 'sha256' })
  const sha = (await alice.client.get(`${path}/branches/main`)).string('commit.id')
  expect(sha).toHaveLength(64)
  const here = await comment(bob, sha, `${alice.name}/${name}`)
  expect(here.text).toContain(`/commit/${sha}"`)
  const elsewhere = `${alice.name}/${name}@${sha.slice(0, 12)}`
  expect((await comment(bob, elsewhere)).text).toContain(`/${alice.name}/${name}/commit/${sha}"`)
  await alice.client.patch(path, { private: true })
  expect((await comment(bob, `${elsewhere} now`)).text).not.toContain('/commit/')
})

test('below a repository its issues are meant', async () => {
  const html = (user: TestUser, path: string) => user.client.post(`${path}/markdown`, { Text: '#1', Mode: 'comment' })
  expect((await html(bob, open.path)).text).toContain(`href="${service.url}/${alice.name}/${open.name}/issues/1"`)
  expect((await html(alice, closed.path)).text).toContain(`href="${service.url}/${alice.name}/${closed.name}/issues/1"`)
  expect((await html(bob, closed.path)).status).toBe(404)
  expect((await service.anonymous.post(`${open.path}/markup`, {})).status).toBe(401)
})

test('templates are listed and found by exact name', async () => {
  const { anonymous } = service
  expect((await anonymous.get('/gitignore/templates')).body).toContain('Go')
  expect((await anonymous.get('/gitignore/templates/Go')).string('source')).toContain('*.exe')
  expect((await anonymous.get('/licenses')).body).toContainEqual({
    key: 'MIT',
    name: 'MIT',
    url: `${service.url}/api/v1/licenses/MIT`,
  })
  expect((await anonymous.get('/licenses/MIT')).string('body')).toContain('Permission is hereby granted')
  expect((await anonymous.get('/label/templates')).body).toEqual(['Advanced', 'Default'])
  expect((await anonymous.get('/label/templates/Default')).body).toHaveLength(7)
  for (const path of [
    'gitignore/templates/go',
    'licenses/mit',
    'label/templates/default',
    'gitignore/templates/..%2FGo',
  ])
    expect((await anonymous.get(`/${path}`)).status).toBe(404)
})

test('node information counts and is found from the root', async () => {
  const discovery = await service.anonymous.get('/.well-known/nodeinfo')
  expect(discovery.body).toEqual({
    links: [{ href: `${service.url}/api/v1/nodeinfo`, rel: 'http://nodeinfo.diaspora.software/ns/schema/2.1' }],
  })
  const document = await service.anonymous.get('/api/v1/nodeinfo')
  expect(document.number('usage.users.total')).toBe(3)
  // Alice and Bob have sent requests that were signed in, and so has who made them.
  for (const span of ['activeHalfyear', 'activeMonth']) expect(document.number(`usage.users.${span}`)).toBe(3)
  expect(document.number('usage.localPosts')).toBe(2)
  expect(document.body).toMatchObject({ openRegistrations: true })
})

test('settings and signing keys answer everybody', async () => {
  const { anonymous } = service
  expect((await anonymous.get('/settings/api')).number('max_response_items')).toBe(50)
  for (const name of ['attachment', 'repository', 'ui'])
    expect((await anonymous.get(`/settings/${name}`)).status).toBe(200)
  const none = await anonymous.get('/signing-key.gpg')
  expect([none.status, none.string('message')]).toEqual([404, 'no signing key'])
  expect((await bob.client.get(`${closed.path}/signing-key.pub`)).string('message')).toBe('not found')
})
