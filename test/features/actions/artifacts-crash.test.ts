import { afterAll, beforeAll, expect, test } from 'bun:test'
import { actionsArtifactBlocks, actionsArtifacts } from '../../../db/schema/actions-artifacts.ts'
import { artifactTasks } from '../../../src/features/actions-artifacts/collect.ts'
import { attachmentTasks } from '../../../src/features/attachments/collect.ts'
import { artifactClient, digest, runtimeTokenOf } from '../../harness/artifacts.ts'
import { registerRunner } from '../../harness/runner.ts'
import { startTestService, type TestService } from '../../harness/service.ts'
import { until } from '../../harness/until.ts'
import { startReplica } from '../transport/replica.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

const UPLOADERS = 4
const contentOf = (name: string) => `${name};`.repeat(40_000)

test('a server killed amid uploads leaves each artifact whole or not there, and forgets none that it answered', async () => {
  const owner = await service.createUser()
  const repo = await service.createRepository(owner)
  const runner = await registerRunner(service.url, { owner, at: `${repo.path}/actions/runners` })
  const text = 'on: push\njobs: { a: { runs-on: linux, steps: [{ run: x }] } }'
  await owner.client.post(`${repo.path}/contents/.gitea/workflows/ci.yml`, { content: btoa(text), message: 'ci' })
  await service.drain()
  const task = await runner.take()
  const replica = await startReplica(service)
  const there = artifactClient(replica.url, runtimeTokenOf(task))
  const answered: string[] = []
  const upload = async (uploader: number) => {
    for (let number = 0; ; number += 1) {
      const name = `${uploader}-${number}`
      const content = contentOf(name)
      const half = content.length / 2
      const address = (await there.create(name)).replace(/^https?:\/\/[^/]+/, replica.url)
      await Promise.all([
        there.stage(address, 'b', content.slice(half)),
        there.stage(address, 'a', content.slice(0, half)),
      ])
      await there.commit(address, ['a', 'b'])
      if ((await there.finalize(name, content)).status === 200) answered.push(name)
    }
  }
  // They end when the server is gone.
  const uploads = Promise.allSettled(Array.from({ length: UPLOADERS }, (_, uploader) => upload(uploader)))
  await until(() => answered.length > 5, 'some artifacts are there')
  await replica.kill()
  await uploads

  const client = artifactClient(service.url, runtimeTokenOf(task))
  const names = await client.names()
  expect(answered.filter((name) => !names.includes(name))).toEqual([])
  for (const name of names) expect([name, digest(await client.download(name))]).toEqual([name, digest(contentOf(name))])

  await runner.end(task)
  const { context } = service
  // What has no row lies there for a day, so that nothing is taken which somebody is about to name.
  const tomorrow = { ...context, clock: { now: () => new Date(Date.now() + 25 * 3_600_000) } }
  for (const { run } of [...artifactTasks, ...attachmentTasks]) await run(tomorrow, new AbortController().signal)
  expect(await context.db.$count(actionsArtifacts)).toBe(names.length)
  expect(await context.db.$count(actionsArtifactBlocks)).toBe(0)
  expect(await Array.fromAsync(context.objects.list('artifacts'))).toHaveLength(names.length)
})
