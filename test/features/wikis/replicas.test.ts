import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestService, type TestService } from '../../harness/service.ts'
import { type Replica, startReplica } from '../transport/replica.ts'
import { findFaults } from '../transport/twins.ts'
import { base64, folderIdOf } from './stage.ts'

let service: TestService
let replica: Replica
beforeAll(async () => {
  service = await startTestService()
  replica = await startReplica(service)
})
afterAll(async () => {
  await replica.stop()
  await service.stop()
})

test('of creations of one page at two servers at once one is made, and one wiki', async () => {
  const owner = await service.createUser()
  for (let round = 0; round < 5; round += 1) {
    const repo = await service.createRepository(owner)
    const create = async (url: string, text: string) => {
      const answer = await fetch(`${url}/api/v1${repo.path}/wiki/new`, {
        method: 'POST',
        headers: { authorization: `token ${owner.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ title: 'Home', content_base64: base64(text) }),
      })
      return { status: answer.status, text, body: await answer.text() }
    }
    const urls = Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? service.url : replica.url))
    const answers = await Promise.all(urls.map((url, index) => create(url, `text ${index}`)))
    const made = answers.filter(({ status }) => status === 201)
    expect(made).toHaveLength(1)
    expect(answers.filter(({ status }) => status !== 201 && status !== 400)).toEqual([])
    const home = await owner.client.get(`${repo.path}/wiki/page/Home`)
    expect(home.body).toMatchObject({ content_base64: base64(made[0]?.text ?? ''), commit_count: 1 })
    const folderId = (await folderIdOf(service, repo.id)) ?? 0
    expect(await service.context.git.fsck(folderId, { isFull: true })).toEqual({ isSound: true, problems: [] })
  }
  expect(await findFaults(service)).toEqual([])
})
