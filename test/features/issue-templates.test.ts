import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readConfig } from '../../src/features/issue-templates/config.ts'
import { readTemplate } from '../../src/features/issue-templates/template.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let alice: TestUser
beforeAll(async () => {
  service = await startTestService()
  alice = await service.createUser('alice')
})
afterAll(() => service.stop())

const write = async (path: string, file: string, text: string) =>
  expect((await alice.client.post(`${path}/contents/${file}`, { content: btoa(text) })).status).toBe(201)

test('templates, forms and settings are read from the default branch, what cannot be used is passed over', async () => {
  const { path } = await service.createRepository(alice)
  const ask = (what: string) => service.anonymous.get(`${path}/${what}`)
  expect((await ask('issue_templates')).body).toEqual([])
  expect((await ask('issue_config')).body).toEqual({ blank_issues_enabled: true, contact_links: [] })
  await write(
    path,
    '.gitea/ISSUE_TEMPLATE/bug.md',
    '---\nname: Bug\nabout: Broken\nlabels: a, b\nref: main\n---\ntext\n',
  )
  await write(
    path,
    '.github/issue_template/form.yml',
    'name: F\nabout: f\nbody:\n- type: input\n  attributes: {label: L}\n',
  )
  await write(path, '.gitea/ISSUE_TEMPLATE/broken.yaml', 'name: [')
  await write(path, '.gitea/ISSUE_TEMPLATE/long.md', 'x'.repeat(33 * 1024))
  await write(path, '.gitea/ISSUE_TEMPLATE/config.yml', 'blank_issues_enabled: false\n')
  expect((await ask('issue_templates')).body).toMatchObject([
    { name: 'Bug', labels: ['a', 'b'], ref: 'refs/heads/main', content: 'text\n', body: null },
    { name: 'F', content: '', body: [{ type: 'input', id: '0', visible: ['form', 'content'] }] },
  ])
  expect((await ask('issue_config')).body).toEqual({ blank_issues_enabled: false, contact_links: [] })
  expect((await ask('issue_config/validate')).body).toEqual({ valid: true, message: '' })
  await write(path, '.gitea/ISSUE_TEMPLATE/config.yaml', 'contact_links: 5\n')
  expect((await ask('issue_config')).body).toEqual({ blank_issues_enabled: true, contact_links: [] })
  expect((await ask('issue_config/validate')).body).toMatchObject({ valid: false })
})

test('strangers learn nothing of a private repository, and an empty one has none', async () => {
  const hidden = await service.createRepository(alice, { private: true })
  const empty = await service.createRepository(alice, { auto_init: false })
  for (const what of ['issue_templates', 'issue_config', 'issue_config/validate']) {
    expect((await service.anonymous.get(`${hidden.path}/${what}`)).status).toBe(404)
    expect((await service.anonymous.get(`${empty.path}/${what}`)).status).toBe(200)
  }
})

test.each([
  ['blank_issues_enabled: maybe'],
  ['- a'],
  ['contact_links: [5]'],
  ['contact_links: [{name: a, about: b}]'],
  ['contact_links: [{name: a, about: b, url: "javascript:alert(1)"}]'],
  ['contact_links: [{name: 5, about: b, url: "https://example.com"}]'],
  ['a: &a [x]\nb: [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]'],
])('%j are no settings', (text) => {
  expect(readConfig(text).fault).toBeString()
})

const field = (text: string) => `name: n\nabout: a\nbody:\n- ${text}\n`
test.each([
  ['name: n\nabout: a\n'],
  ['name: n\nabout: a\nbody: []\n'],
  ['about: a\nbody: [{type: markdown, attributes: {value: x}}]'],
  [field('{type: slider, attributes: {label: x}}')],
  [field('{type: input}')],
  [field('{type: input, id: "a b", attributes: {label: x}}')],
  [field('{type: dropdown, attributes: {label: x}}')],
  [field('{type: checkboxes, attributes: {label: x, options: [a]}}')],
  [field('{type: input, attributes: {label: x}, visible: [nowhere]}')],
  [`${field('{type: input, id: a, attributes: {label: x}}')}- {type: input, id: a, attributes: {label: y}}\n`],
])('%j is no form', (text) => {
  expect(readTemplate('x/form.yaml', text)).toBeUndefined()
})
