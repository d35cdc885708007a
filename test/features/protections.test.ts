import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { BranchRule } from '../../src/features/protections/rules.ts'
import {
  faultInTagPattern,
  filePatterns,
  findBranchRule,
  findTagRules,
  sortRules,
} from '../../src/features/protections/rules.ts'
import { startTestService, type TestRepository, type TestService, type TestUser } from '../harness/service.ts'

let service: TestService
let owner: TestUser
let writer: TestUser
let repo: TestRepository
let rules: string
let tagRules: string

beforeAll(async () => {
  service = await startTestService({ settings: { MAX_OWNED: '20' } })
  owner = await service.createUser()
  writer = await service.createUser()
  repo = await service.createRepository(owner)
  rules = `${repo.path}/branch_protections`
  tagRules = `${repo.path}/tag_protections`
  await owner.client.put(`${repo.path}/collaborators/${writer.name}`, { permission: 'write' })
})
afterAll(() => service.stop())

describe('which rule holds', () => {
  const named = (ruleName: string, priority = 1, id = 1) => ({ ruleName, priority, id }) as BranchRule
  test.each([
    ['main', 'main', true],
    ['main', 'MAIN', false],
    ['release/*', 'release/1', true],
    ['release/*', 'release/1/x', false],
    ['release/**', 'release/1/x', true],
    ['{a,b}/*', 'b/x', true],
    ['v[0-9]', 'v3', true],
  ])('%s for %s: %p', (rule, branch, holds) => {
    expect(findBranchRule([named(rule)], branch) !== undefined).toBe(holds)
  })

  test('the lowest priority, then a plain name, then the older', () => {
    const sorted = sortRules([named('*', 2, 1), named('b*', 1, 4), named('b', 1, 5), named('*b', 1, 3)])
    expect(sorted.map(({ ruleName }) => ruleName)).toEqual(['b', '*b', 'b*', '*'])
  })

  test('patterns of files heed slashes and not the case', () => {
    const isProtected = filePatterns('*.lock; docs/**;Secret.txt')
    expect(['a.lock', 'docs/a/b', 'secret.TXT'].every(isProtected)).toBe(true)
    expect(['x/a.lock', 'docs', 'a.locked'].some(isProtected)).toBe(false)
  })

  test('an expression takes a time linear in the name, and a broken one is none', () => {
    const [id, repositoryId, at] = [1, 1, new Date()]
    const listed = { people: [], teams: [] }
    const rule = { id, repositoryId, namePattern: '/^(a+)+$/', listed, createdAt: at, updatedAt: at }
    expect(findTagRules([rule], `${'a'.repeat(200)}!`)).toEqual([])
    expect(findTagRules([rule], 'aaa')).toHaveLength(1)
    expect(faultInTagPattern('/(/')).toBeDefined()
    expect(faultInTagPattern('/(?=x)/')).toBeDefined()
    expect(faultInTagPattern('[')).toBeDefined()
  })
})

describe('rules for branches', () => {
  test.each([
    ['a pattern that is none', { rule_name: 'a[' }, 422],
    ['a pattern that is too long', { rule_name: '*'.repeat(257) }, 422],
    ['a name that is too long', { rule_name: 'a'.repeat(256) }, 422],
    ['patterns of files that are none', { rule_name: 'x', protected_file_patterns: 'a;{b' }, 422],
    ['too many patterns of files', { rule_name: 'x', unprotected_file_patterns: 'a;'.repeat(101) }, 422],
    ['a negative number of approvals', { rule_name: 'x', required_approvals: -1 }, 422],
    ['a priority that is too high', { rule_name: 'x', priority: 1e9 }, 422],
    ['somebody unknown', { rule_name: 'x', merge_whitelist_usernames: ['no-one'] }, 422],
    ['no name', {}, 400],
  ])('are not made with %s', async (_, option, status) => {
    expect((await owner.client.post(rules, option)).status).toBe(status)
    expect((await owner.client.get(rules)).body).toEqual([])
  })

  test('name somebody who hides as they would name nobody', async () => {
    await service.createUser('unseen')
    await service.admin.client.patch('/admin/users/unseen', { login_name: 'unseen', visibility: 'private' })
    const answers = await Promise.all(
      ['unseen', 'nobody'].map((name) =>
        owner.client.post(rules, { rule_name: 'x', enable_push: true, push_whitelist_usernames: [name] }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual([422, 422])
    expect(answers.map((answer) => answer.string('message').replace(/unseen|nobody/, 'NAME'))).toEqual(
      Array.from({ length: 2 }, () => 'user does not exist [uid: 0, name: NAME]'),
    )
  })

  test('made at once are one of each name, with a priority each', async () => {
    const same = await Promise.all(Array.from({ length: 6 }, () => owner.client.post(rules, { rule_name: 'one' })))
    expect(same.map(({ status }) => status).sort()).toEqual([201, 403, 403, 403, 403, 403])
    const made = await Promise.all(['a', 'b', 'c', 'd'].map((rule_name) => owner.client.post(rules, { rule_name })))
    const priorities = made.map((answer) => answer.number('priority'))
    expect(new Set(priorities).size).toBe(4)
  })

  test('are put in order by their numbers, all or none, and never those of others', async () => {
    const { sql } = service.context
    const foreign = await service.createRepository(writer)
    await writer.client.post(`${foreign.path}/branch_protections`, { rule_name: 'theirs', priority: 9 })
    const rows = await sql`select id, rule_name from branch_protections order by id desc`
    const ids = (name: string) => Number(rows.find((row) => row.rule_name === name)?.id)
    const order = async (list: number[]) => (await owner.client.post(`${rules}/priority`, { ids: list })).status
    expect(await order([ids('c'), ids('a'), ids('one')])).toBe(204)
    const [first, second, third] = ['c', 'a', 'one']
    const listed = (await owner.client.get(rules)).body
    expect(Array.isArray(listed) && listed.filter(({ priority }) => priority <= 3).length).toBeGreaterThanOrEqual(3)
    expect(await owner.client.get(`${rules}/${first}`)).toMatchObject({ body: { priority: 1 } })
    expect(await owner.client.get(`${rules}/${second}`)).toMatchObject({ body: { priority: 2 } })
    expect(await owner.client.get(`${rules}/${third}`)).toMatchObject({ body: { priority: 3 } })
    expect(await order([ids('a'), ids('theirs')])).toBe(404)
    expect(await owner.client.get(`${rules}/a`)).toMatchObject({ body: { priority: 2 } })
  })

  test('follow a branch of theirs to its new name, and a refused rename changes nothing', async () => {
    await owner.client.post(`${repo.path}/branches`, { new_branch_name: 'stable' })
    await owner.client.post(rules, { rule_name: 'stable', required_approvals: 2 })
    const rename = async (user: TestUser, from: string, name: string) =>
      (await user.client.patch(`${repo.path}/branches/${from}`, { name })).status
    expect(await rename(writer, 'stable', 'steady')).toBe(403)
    expect(await rename(owner, 'stable', 'one')).toBe(403)
    expect(await rename(owner, 'stable', 'steady')).toBe(204)
    expect((await owner.client.get(`${rules}/stable`)).status).toBe(404)
    expect((await owner.client.get(`${rules}/steady`)).body).toMatchObject({ required_approvals: 2 })
    expect((await owner.client.get(`${repo.path}/branches/steady`)).body).toMatchObject({ protected: true })
    // A ref that stands in the way makes git refuse, and the rule is as it was.
    await owner.client.post(`${repo.path}/branches`, { new_branch_name: 'deep/er' })
    expect(await rename(owner, 'steady', 'deep')).toBe(409)
    expect((await owner.client.get(`${rules}/deep`)).status).toBe(404)
    expect((await owner.client.get(`${rules}/steady`)).status).toBe(200)
  })

  test('forget people and teams that are deleted', async () => {
    const gone = await service.createUser()
    await owner.client.put(`${repo.path}/collaborators/${gone.name}`, { permission: 'write' })
    const lists = { enable_push: true, enable_push_whitelist: true, push_whitelist_usernames: [gone.name] }
    expect((await owner.client.patch(`${rules}/one`, lists)).body).toMatchObject({
      push_whitelist_usernames: [gone.name],
    })
    expect((await service.admin.client.delete(`/admin/users/${gone.name}`)).status).toBe(204)
    expect((await owner.client.get(`${rules}/one`)).body).toMatchObject({ push_whitelist_usernames: [] })
  })

  test('are no more than MAX_OWNED', async () => {
    const many = await Promise.all(
      Array.from({ length: 25 }, (_, index) => owner.client.post(rules, { rule_name: `many-${index}` })),
    )
    expect(many.some(({ status }) => status === 422)).toBe(true)
    const listed = (await owner.client.get(rules)).body
    expect(Array.isArray(listed) && listed.length).toBe(20)
  })

  test('go with their repository', async () => {
    const brief = await service.createRepository(owner)
    await owner.client.post(`${brief.path}/branch_protections`, { rule_name: 'main' })
    await owner.client.post(`${brief.path}/tag_protections`, { name_pattern: 'v', whitelist_usernames: [owner.name] })
    expect((await owner.client.delete(brief.path)).status).toBe(204)
    const { sql } = service.context
    expect(await sql`select 1 from branch_protections where repository_id = ${brief.id}`).toHaveLength(0)
    expect(await sql`select 1 from tag_protections where repository_id = ${brief.id}`).toHaveLength(0)
  })
})

test('a rule for tags has a pattern that is one, and is one of its pattern', async () => {
  const listed = { whitelist_usernames: [owner.name] }
  for (const name_pattern of ['/(/', '[', 'x'.repeat(256)])
    expect((await owner.client.post(tagRules, { name_pattern, ...listed })).status).toBe(422)
  const same = await Promise.all(
    Array.from({ length: 5 }, () => owner.client.post(tagRules, { name_pattern: 'v*', ...listed })),
  )
  expect(same.map(({ status }) => status).sort()).toEqual([201, 403, 403, 403, 403])
  const other = await owner.client.post(tagRules, { name_pattern: 'w*', ...listed })
  const path = `${tagRules}/${other.number('id')}`
  expect((await owner.client.patch(path, { name_pattern: 'v*' })).status).toBe(403)
  expect((await owner.client.patch(path, { name_pattern: ' ' })).status).toBe(422)
  expect((await owner.client.get(path)).body).toMatchObject({ name_pattern: 'w*' })
})
