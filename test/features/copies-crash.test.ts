import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'
import { until } from '../harness/until.ts'
import { startReplica } from './transport/replica.ts'

let service: TestService
let owner: TestUser
let copier: TestUser
beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser('owner')
  copier = await service.createUser('copier')
  for (const name of ['left', 'right']) await owner.client.post('/orgs', { username: name })
})
afterAll(() => service.stop())

const SOURCES = 30

async function send(url: string, who: TestUser, path: string, body: object): Promise<number | undefined> {
  const request = {
    method: 'POST',
    headers: { authorization: `token ${who.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
  // Undefined: the server was gone before it had answered.
  return fetch(`${url}/api/v1${path}`, request).then(
    async (answer) => {
      await answer.arrayBuffer()
      return answer.status
    },
    () => undefined,
  )
}

async function storedIds(): Promise<number[]> {
  const ids: number[] = []
  for await (const id of service.context.git.listStoredIds()) ids.push(id)
  return ids.sort((a, b) => a - b)
}

test('a server killed in the middle of forks, generations and transfers leaves each whole or not there', async () => {
  for (let number = 0; number < SOURCES; number += 1)
    await owner.client.post('/user/repos', { name: `source${number}`, auto_init: true, template: true })
  await owner.client.post('/orgs/left/repos', { name: 'ball', auto_init: true })
  const { sql, git } = service.context
  const replica = await startReplica(service)
  const done = { forks: 0, made: 0 }
  let holder = 'left'
  const fork = async () => {
    for (let number = 0; number < SOURCES; number += 1) {
      if ((await send(replica.url, copier, `/repos/owner/source${number}/forks`, {})) !== 202) return
      done.forks += 1
    }
  }
  const generate = async () => {
    for (let number = 0; number < SOURCES; number += 1) {
      const option = { owner: 'copier', name: `made${number}`, git_content: true }
      if ((await send(replica.url, copier, `/repos/owner/source${number}/generate`, option)) !== 201) return
      done.made += 1
    }
  }
  const transfer = async () => {
    for (;;) {
      const next = holder === 'left' ? 'right' : 'left'
      if ((await send(replica.url, owner, `/repos/${holder}/ball/transfer`, { new_owner: next })) !== 202) return
      holder = next
    }
  }
  const writers = Promise.all([fork(), generate(), transfer()])
  await until(() => done.forks > 0 && done.made > 0, 'a fork and a generated repository are there')
  await replica.kill()
  await writers
  const again = await startReplica(service)
  await until(
    async () => (await sql`select id from repository_reservations`).length === 0,
    'what was cut short is cleaned up',
  )
  const rows = await sql<{ id: number; sha: string | null }[]>`
    select id, (select sha from refs where repository_id = repositories.id and name = 'main') as sha
    from repositories order by id`
  expect(await storedIds()).toEqual(rows.map(({ id }) => id))
  for (const { id, sha } of rows) {
    expect(await git.fsck(id, { isFull: true })).toEqual({ isSound: true, problems: [] })
    expect((await git.readCommit(id, 'main')).sha).toBe(sha ?? '')
  }
  for (let number = 0; number < done.forks; number += 1)
    expect((await copier.client.get(`/repos/copier/source${number}`)).body).toMatchObject({ fork: true })
  for (let number = 0; number < done.made; number += 1)
    expect((await copier.client.get(`/repos/copier/made${number}`)).body).toMatchObject({ fork: false, empty: false })
  // The last one may have come to be without its answer. Then the other place leads on.
  const places = await Promise.all(['left', 'right'].map((place) => owner.client.get(`/repos/${place}/ball`)))
  expect(places.map(({ status }) => status).sort()).toContain(200)
  expect(await sql`select * from repository_transfers`).toHaveLength(0)
  const wrong = await sql`
    select name from users where repositories_count <> (select count(*) from repositories where owner_id = users.id)`
  expect([...wrong]).toEqual([])
  await again.stop()
})
