import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { asc, eq } from 'drizzle-orm'
import { events } from '../../../db/schema/events.ts'
import { pushes } from '../../../db/schema/refs.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../../harness/service.ts'
import { addPage, base64, folderIdOf } from './stage.ts'

let service: TestService
let owner: TestUser
let reader: TestUser
let repo: TestRepository
beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
  reader = await service.createUser()
  repo = await service.createRepository(owner)
})
afterAll(() => service.stop())

const pageAt = (address: string, of = repo) => `${of.path}/wiki/page/${address}`
const titles = async (of = repo) => {
  const { body } = await owner.client.get(`${of.path}/wiki/pages`)
  return Array.isArray(body) ? body.map(({ title }) => String(title)) : body
}

async function expectSound(of = repo): Promise<void> {
  const folderId = await folderIdOf(service, of.id)
  expect(await service.context.git.fsck(folderId ?? 0, { isFull: true })).toEqual({ isSound: true, problems: [] })
  expect(await service.context.db.select().from(pushes)).toEqual([])
}

describe('a page', () => {
  test('is made, read, changed, renamed and deleted, and each is an event', async () => {
    const of = await service.createRepository(owner)
    const made = await owner.client.post(`${of.path}/wiki/new`, { title: ' A page ', content_base64: base64('one') })
    expect(made.status).toBe(201)
    const html_url = `${service.context.baseUrl}/${owner.name}/${of.name}/wiki/A-page`
    const person = { name: owner.name, email: `${owner.name}@localhost.localdomain` }
    expect(made.body).toMatchObject({
      ...{ title: 'A page', sub_url: 'A-page', html_url, content_base64: base64('one'), commit_count: 1 },
      ...{ sidebar: '', footer: '', last_commit: { message: 'Add "A page"\n', author: person, commiter: person } },
    })
    const path = pageAt('A-page', of)
    const edit = { content_base64: base64('two'), message: 'Better' }
    expect((await owner.client.patch(path, edit)).body).toMatchObject({ title: 'A page', commit_count: 2 })
    const revisions = await service.anonymous.get(`${of.path}/wiki/revisions/A-page`)
    expect(revisions.body).toMatchObject({
      count: 2,
      commits: [{ message: 'Better\n' }, { message: 'Add "A page"\n' }],
    })
    expect(revisions.headers.get('x-total-count')).toBe('2')
    const renamed = await owner.client.patch(path, { title: 'B page' })
    expect(renamed.body).toMatchObject({ title: 'B page', content_base64: base64('two'), commit_count: 1 })
    expect((await owner.client.get(path)).status).toBe(404)
    expect((await owner.client.delete(pageAt('B-page', of))).status).toBe(204)
    expect(await titles(of)).toEqual([])
    const told = await service.context.db
      .select()
      .from(events)
      .where(eq(events.repositoryId, of.id))
      .orderBy(asc(events.id))
    expect(told.slice(1).map(({ kind, payload }) => [kind, payload])).toEqual([
      ['wiki.page_created', { title: 'A page', comment: 'Add "A page"' }],
      ['wiki.page_edited', { title: 'A page', comment: 'Better' }],
      ['wiki.page_edited', { title: 'B page', comment: 'Update "B page"' }],
      ['wiki.page_deleted', { title: 'B page', comment: '' }],
    ])
    expect((await owner.client.get(of.path)).body).toMatchObject({ branch_count: 1 })
    await expectSound(of)
  })

  test('has the sidebar and the footer beside it', async () => {
    const of = await service.createRepository(owner)
    await addPage(owner, of, '_Sidebar', 'side')
    await addPage(owner, of, '_Footer', 'foot')
    const home = await addPage(owner, of, 'Home', 'home')
    expect(home.body).toMatchObject({ sidebar: base64('side'), footer: base64('foot'), content_base64: base64('home') })
  })

  test.each([
    ['Second page', 'Second-page', 'Second-page.md'],
    ['With-dash', 'With-dash.-', 'With-dash.-.md'],
    ['A-b c', 'A-b+c.-', 'A-b c.-.md'],
    ['Part/One', 'Part%2FOne', 'Part%2FOne.md'],
    ['../../etc/passwd', '..%2F..%2Fetc%2Fpasswd', '..%2F..%2Fetc%2Fpasswd.md'],
    ['.git', '.git', '.git.md'],
    ['.git/config', '.git%2Fconfig', '.git%2Fconfig.md'],
    ['a+b', 'a%2Bb', 'a%2Bb.md'],
    ['100%25 sure', '100%2525-sure', '100%2525-sure.md'],
    ['100% (*sure*)!', '100%25-%28%2Asure%2A%29%21', '100%25-%28%2Asure%2A%29%21.md'],
    ['Über uns', '%C3%9Cber-uns', '%C3%9Cber-uns.md'],
    ['notes.md', 'notes.md.-', 'notes.md.-.md'],
    ['ends.-', 'ends.-.-', 'ends.-.-.md'],
    ['-rf', '-rf.-', '-rf.-.md'],
    [':(top)x', '%3A%28top%29x', '%3A%28top%29x.md'],
    ["it's ~fine_", 'it%27s-~fine_', 'it%27s-~fine_.md'],
  ])('%j is at %s, in the file %s', async (title, address, file) => {
    const made = await addPage(owner, repo, title, title)
    expect([made.status, made.string('title'), made.string('sub_url')]).toEqual([201, title, address])
    expect(made.number('commit_count')).toBe(1)
    const found = await owner.client.get(pageAt(address))
    expect([found.status, found.string('title'), found.string('content_base64')]).toEqual([200, title, base64(title)])
    // Some clients escape what is escaped already.
    expect((await owner.client.get(pageAt(encodeURIComponent(address)))).string('title')).toBe(title)
    const folderId = await folderIdOf(service, repo.id)
    const { entries } = await service.context.git.readTree(folderId ?? 0, { revision: 'main' })
    expect(entries.map(({ name }) => name)).toContain(file)
    expect((await owner.client.get(`${repo.path}/wiki/revisions/${address}`)).number('count')).toBe(1)
    expect((await addPage(owner, repo, title)).status).toBe(400)
    await expectSound()
  })
})

describe('refused without a trace', () => {
  const long = 'x'.repeat(253)
  test.each([
    ['', 400],
    ['   ', 400],
    ['_pages', 400],
    ['_new', 400],
    ['_edit', 400],
    ['raw', 400],
    ['.', 400],
    ['..', 400],
    ['bell\x07', 400],
    ['line\nbreak', 400],
    ['left\u202eright', 400],
    ['\ud800', 400],
    [long, 400],
    ['ü'.repeat(60), 400],
  ])('the title %j: %d', async (title, status) => {
    const before = await titles()
    const refused = await addPage(owner, repo, title)
    expect([refused.status, refused.string('message')]).toEqual([status, expect.stringContaining('wiki title')])
    await addPage(owner, repo, 'Kept')
    // Without a title the page keeps its own.
    if (title.trim() !== '') expect((await owner.client.patch(pageAt('Kept'), { title })).status).toBe(status)
    await owner.client.delete(pageAt('Kept'))
    expect(await titles()).toEqual(before)
    await expectSound()
  })

  test('a title with NUL, as any text with it', async () => {
    expect((await addPage(owner, repo, 'nul\0nul')).status).toBe(422)
  })

  test('content that is none, bodies that are none, and pages that are none', async () => {
    await addPage(owner, repo, 'Home')
    const bad = { title: 'Home', content_base64: '%%%' }
    expect((await owner.client.post(`${repo.path}/wiki/new`, { ...bad, title: 'New' })).status).toBe(400)
    expect((await owner.client.patch(pageAt('Home'), bad)).status).toBe(400)
    expect((await owner.client.post(`${repo.path}/wiki/new`, { title: ['x'] })).status).toBe(422)
    expect((await owner.client.request(`${repo.path}/wiki/new`, { method: 'POST' })).status).toBe(422)
    expect((await owner.client.patch(pageAt('None'), { title: 'Home' })).status).toBe(404)
    expect((await owner.client.delete(pageAt('None'))).status).toBe(404)
    expect((await owner.client.get(pageAt('%ff'))).status).toBe(404)
    expect((await owner.client.get(pageAt('..%2f..%2fHome'))).status).toBe(404)
    expect((await owner.client.get(pageAt('home'))).status).toBe(404)
  })

  test('a title that is taken, also by a rename', async () => {
    await addPage(owner, repo, 'Taken', 'taken')
    await addPage(owner, repo, 'Other', 'other')
    expect((await addPage(owner, repo, 'Taken')).string('message')).toBe('wiki page already exists [title: Taken.md]')
    expect((await owner.client.patch(pageAt('Other'), { title: 'Taken' })).status).toBe(400)
    expect((await owner.client.get(pageAt('Taken'))).string('content_base64')).toBe(base64('taken'))
    expect((await owner.client.get(pageAt('Other'))).status).toBe(200)
  })

  test('no folder is made for what is refused', async () => {
    const of = await service.createRepository(owner)
    expect((await addPage(owner, of, '_pages')).status).toBe(400)
    for (const path of ['pages', 'page/Home', 'revisions/Home']) {
      const none = await owner.client.get(`${of.path}/wiki/${path}`)
      expect([none.status, none.body]).toEqual([
        404,
        expect.objectContaining({ errors: ['no such file or directory'] }),
      ])
    }
    expect((await owner.client.patch(pageAt('Home', of), { title: 'x' })).status).toBe(404)
    expect((await owner.client.delete(pageAt('Home', of))).status).toBe(404)
    expect(await folderIdOf(service, of.id)).toBeUndefined()
  })
})

describe('the unit decides', () => {
  const writes = (client: TestUser['client'], of: TestRepository) => [
    () => client.post(`${of.path}/wiki/new`, { title: 'New', content_base64: '' }),
    () => client.patch(pageAt('Home', of), { content_base64: '' }),
    () => client.delete(pageAt('Home', of)),
  ]
  const statuses = async (calls: (() => Promise<{ status: number }>)[]) => {
    const found: number[] = []
    for (const call of calls) found.push((await call()).status)
    return found
  }
  const reads = (client: TestUser['client'], of: TestRepository) =>
    ['pages', 'page/Home', 'revisions/Home'].map((path) => () => client.get(`${of.path}/wiki/${path}`))

  test('everybody reads a public wiki, writers write it', async () => {
    const of = await service.createRepository(owner)
    await addPage(owner, of, 'Home')
    expect(await statuses(reads(service.anonymous, of))).toEqual([200, 200, 200])
    expect(await statuses(writes(service.anonymous, of))).toEqual([401, 401, 401])
    expect(await statuses(writes(reader.client, of))).toEqual([403, 403, 403])
    await owner.client.put(`${of.path}/collaborators/${reader.name}`, { permission: 'write' })
    expect(await statuses(writes(reader.client, of))).toEqual([201, 200, 204])
    const { string } = await service
      .client({ basic: `${reader.name}:${reader.password}` })
      .post(`/users/${reader.name}/tokens`, { name: 'reads', scopes: ['read:repository'] })
    const narrow = service.client({ token: string('sha1') })
    expect(await statuses(writes(narrow, of))).toEqual([403, 403, 403])
  })

  test('private, off, elsewhere: 404; archived: 423', async () => {
    const of = await service.createRepository(owner)
    await addPage(owner, of, 'Home')
    const set = async (json: object) => expect((await owner.client.patch(of.path, json)).status).toBe(200)
    await set({ private: true })
    expect(await statuses([...reads(reader.client, of), ...writes(reader.client, of)])).toEqual(Array(6).fill(404))
    expect(await statuses(reads(service.anonymous, of))).toEqual([404, 404, 404])
    const external_wiki = { external_wiki_url: 'https://wiki.example.com' }
    for (const off of [{ has_wiki: false }, { has_wiki: true, external_wiki }]) {
      await set(off)
      expect(await statuses([...reads(owner.client, of), ...writes(owner.client, of)])).toEqual(Array(6).fill(404))
    }
    await set({ has_wiki: true, archived: true })
    expect(await statuses(writes(owner.client, of))).toEqual([423, 423, 423])
    expect(await statuses(reads(owner.client, of))).toEqual([200, 200, 200])
    await set({ archived: false })
    await service.context.sql`update repositories set is_mirror = true where id = ${of.id}`
    expect(await statuses(writes(owner.client, of))).toEqual([423, 423, 423])
  })
})

describe('lists', () => {
  test('are paged, have tags, and tell the last commit of each page', async () => {
    const of = await service.createRepository(owner)
    for (const title of ['C', 'A', 'B', 'D', 'E']) await addPage(owner, of, title)
    await owner.client.patch(pageAt('B', of), { content_base64: base64('newer'), message: 'Newer' })
    const second = await owner.client.get(`${of.path}/wiki/pages`, { limit: 2, page: 2 })
    expect(second.body).toMatchObject([{ title: 'C', last_commit: { message: 'Add "C"\n' } }, { title: 'D' }])
    expect(second.headers.get('x-total-count')).toBe('5')
    expect(second.headers.get('link')).toContain('rel="next"')
    const first = await owner.client.get(`${of.path}/wiki/pages`, { limit: 2 })
    expect(first.body).toMatchObject([{ title: 'A' }, { title: 'B', last_commit: { message: 'Newer\n' } }])
    expect((await owner.client.get(`${of.path}/wiki/pages`, { page: 99 })).body).toEqual([])
    const tag = first.headers.get('etag') ?? ''
    const again = () => owner.client.request(`${of.path}/wiki/pages?limit=2`, { headers: { 'if-none-match': tag } })
    expect((await again()).status).toBe(304)
    await addPage(owner, of, 'F')
    expect((await again()).status).toBe(200)
  })

  test('of revisions go on page by page', async () => {
    const of = await service.createRepository(owner)
    await addPage(owner, of, 'Home')
    for (let number = 1; number <= 51; number += 1)
      await owner.client.patch(pageAt('Home', of), { content_base64: base64(`${number}`), message: `m${number}` })
    const page = (number: number) => owner.client.get(`${of.path}/wiki/revisions/Home`, { page: number })
    expect((await page(1)).body).toMatchObject({ count: 52, commits: expect.objectContaining({ length: 50 }) })
    expect((await page(2)).body).toMatchObject({
      count: 52,
      commits: [{ message: 'm1\n' }, { message: 'Add "Home"\n' }],
    })
    expect((await page(3)).body).toEqual({ count: 52, commits: [] })
  })
})

describe('at the same time', () => {
  test('of twenty creations of the first page one is made', async () => {
    const of = await service.createRepository(owner)
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => addPage(owner, of, 'Home', `text ${index}`)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(400)].sort())
    const [made] = answers.filter(({ status }) => status === 201)
    const home = await owner.client.get(pageAt('Home', of))
    expect([home.string('content_base64'), home.number('commit_count')]).toEqual([
      made?.string('content_base64') ?? '',
      1,
    ])
    await expectSound(of)
  })

  test('changes of different pages all succeed', async () => {
    const of = await service.createRepository(owner)
    const names = Array.from({ length: 12 }, (_, index) => `Page ${String(index).padStart(2, '0')}`)
    const answers = await Promise.all(names.map((name) => addPage(owner, of, name)))
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 201))
    expect(await titles(of)).toEqual(names)
    await expectSound(of)
  })
})

test('what is too long for an answer is told by its name alone', async () => {
  const of = await service.createRepository(owner)
  const made = await owner.client.post(`${of.path}/wiki/new`, {
    title: 'Large',
    content_base64: Buffer.alloc(10_485_761, 'x').toString('base64'),
  })
  expect([made.status, made.string('content_base64')]).toEqual([201, ''])
})
