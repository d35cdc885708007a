import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { attachments } from '../../db/schema/attachments.ts'
import { attachmentTasks } from '../../src/features/attachments/collect.ts'
import { startTestService, type TestService, type TestUser } from '../harness/service.ts'
import { until } from '../harness/until.ts'
import { startReplica } from './transport/replica.ts'

let service: TestService
let owner: TestUser
beforeAll(async () => {
  service = await startTestService()
  owner = await service.createUser()
})
afterAll(() => service.stop())

const UPLOADERS = 4

const contentOf = (uploader: number, number: number) => Buffer.alloc(400_000, `${uploader} ${number};`)
const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

test.each([
  ['a release', 'releases', { tag_name: 'v1' }, 'id'],
  ['an issue', 'issues', { title: 'with files' }, 'number'],
] as const)(
  'a server killed in the middle of uploads to %s leaves each file whole or not there, and forgets none that it answered',
  async (_, kind, option, key) => {
    const repo = await service.createRepository(owner)
    const place = await owner.client.post(`${repo.path}/${kind}`, option)
    const assets = `${repo.path}/${kind}/${place.number(key)}/assets`
    const replica = await startReplica(service)
    const answered = new Map<string, string>()
    const upload = async (uploader: number) => {
      for (let number = 0; ; number += 1) {
        const [name, content] = [`${uploader}-${number}.txt`, contentOf(uploader, number)]
        const body = new FormData()
        body.set('attachment', new File([new Uint8Array(content)], name))
        const headers = { authorization: `token ${owner.token}` }
        const status = await fetch(`${replica.url}/api/v1${assets}`, { method: 'POST', headers, body }).then(
          (answer) => answer.status,
          // The server was gone before it had answered.
          () => undefined,
        )
        if (status !== 201) return
        answered.set(name, digest(content))
      }
    }
    // One of them is half-way whenever the others are told to go on.
    const slow = new AbortController()
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) =>
        new Promise((resolve) => void setTimeout(resolve, 5)).then(() => controller.enqueue(new Uint8Array(4096))),
    })
    const half = fetch(`${replica.url}/api/v1${assets}?name=half.txt`, {
      method: 'POST',
      headers: { authorization: `token ${owner.token}` },
      body: endless,
      signal: slow.signal,
    }).catch(() => undefined)
    const { objects, config } = service.context
    const unfinished = () => readdir(`${config.objectsDir}/.uploads`).catch(() => [])
    const uploads = Promise.all(Array.from({ length: UPLOADERS }, (_, uploader) => upload(uploader)))
    await until(
      async () => answered.size > 5 && (await unfinished()).length > 0,
      'some files are there, and one is coming',
    )
    await replica.kill()
    slow.abort()
    await Promise.all([uploads, half])
    expect((await unfinished()).length).toBeGreaterThan(0)

    const { body } = await service.anonymous.get(assets)
    const shown: { name: string; size: number; browser_download_url: string }[] = Array.isArray(body) ? body : []
    const digests = new Map<string, string>()
    for (const { name, size, browser_download_url } of shown) {
      const [uploader = 0, number = 0] = name.replace('.txt', '').split('-').map(Number)
      const bytes = await (await fetch(new URL(new URL(browser_download_url).pathname, service.url))).bytes()
      expect([name, size, digest(bytes)]).toEqual([name, bytes.length, digest(contentOf(uploader, number))])
      digests.set(name, digest(bytes))
    }
    for (const [name, sha256] of answered) expect([name, digests.get(name)]).toEqual([name, sha256])
    expect(digests.has('half.txt')).toBe(false)

    // What was left lies there for a day, so that nothing is taken which somebody is about to name.
    const tomorrow = { ...service.context, clock: { now: () => new Date(Date.now() + 25 * 3_600_000) } }
    for (const task of attachmentTasks) await task.run(tomorrow, new AbortController().signal)
    expect(await unfinished()).toEqual([])
    const stored = await Array.fromAsync(objects.list('attachments'))
    expect(stored).toHaveLength(await service.context.db.$count(attachments))
  },
)
