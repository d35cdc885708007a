import { afterAll, beforeAll, expect, test } from 'bun:test'
import { artifactClient, runtimeTokenOf } from '../../harness/artifacts.ts'
import { registerRunner } from '../../harness/runner.ts'
import { type S3Server, startS3 } from '../../harness/s3.ts'
import { startTestService, type TestService } from '../../harness/service.ts'
import { findFaults } from '../transport/twins.ts'

let s3: S3Server
let service: TestService
beforeAll(async () => {
  s3 = startS3()
  service = await startTestService({ settings: s3.settings })
})
afterAll(async () => {
  await service.stop()
  await s3.stop()
})

const TEXT = 'on: push\njobs: { a: { runs-on: linux, steps: [{ run: x }] } }'

test('artifacts in a bucket: while it is away nothing is acknowledged, and then the same requests go on; doctor sees what is lost', async () => {
  const owner = await service.createUser()
  const repo = await service.createRepository(owner)
  const runner = await registerRunner(service.url, { owner, at: `${repo.path}/actions/runners` })
  const workflow = { content: btoa(TEXT), message: 'ci' }
  await owner.client.post(`${repo.path}/contents/.gitea/workflows/ci.yml`, workflow)
  await service.drain()
  const job = artifactClient(service.url, runtimeTokenOf(await runner.take()))
  const whole = 'one, two'
  const address = await job.create('result')
  const away = () => {
    s3.failWith = new Response('<Error><Code>SlowDown</Code><Message>later</Message></Error>', { status: 503 })
  }
  away()
  expect(await job.stage(address, 'a', 'one, ')).toBe(503)
  s3.failWith = undefined
  expect(await job.stage(address, 'a', 'one, ')).toBe(201)
  expect(await job.stage(address, 'b', 'two')).toBe(201)
  away()
  expect(await job.commit(address, ['a', 'b'])).toBe(503)
  expect((await job.finalize('result', whole)).status).toBe(400)
  s3.failWith = undefined
  expect(await job.commit(address, ['a', 'b'])).toBe(201)
  expect((await job.finalize('result', whole)).status).toBe(200)
  expect(await job.download('result')).toBe(whole)
  expect(s3.openUploads()).toBe(0)
  const problems = async () => (await findFaults(service)).map(({ subject, detail }) => `${subject}: ${detail}`)
  expect(await problems()).toEqual([])
  const [key = ''] = (await Array.fromAsync(service.context.objects.list('artifacts'))).flatMap(({ key, size }) =>
    size === whole.length ? [key] : [],
  )
  await service.context.objects.remove(key)
  expect(await problems()).toEqual([expect.stringMatching(/^Artifact "result" \(\d+\): its bytes are missing$/)])
  expect((await fetch(await job.address('result'))).status).toBe(404)
})
