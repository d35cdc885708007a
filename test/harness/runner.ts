import { expect } from 'bun:test'
import type { TestUser } from './service.ts'

async function call(url: string, method: string, message: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/api/actions/runner.v1.RunnerService/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(message),
  })
  const text = await response.text()
  return { status: response.status, text, body: text.startsWith('{') ? JSON.parse(text) : undefined }
}

/** A task as the protocol tells it in JSON. */
export type RunnerTask = NonNullable<Awaited<ReturnType<TestRunner['fetch']>>>
export type TestRunner = ReturnType<typeof createRunner>

interface Registration {
  labels?: string[]
  ephemeral?: boolean
}

/** A machine that speaks the protocol of runners, registered below `at`, such as `/repos/OWNER/NAME/actions/runners`. */
export async function registerRunner(
  url: string,
  { owner, at }: { owner: TestUser; at: string },
  { labels = ['linux:host'], ...option }: Registration = {},
): Promise<TestRunner> {
  const token = (await owner.client.post(`${at}/registration-token`)).string('token')
  const name = `runner ${crypto.randomUUID()}`
  const made = await call(url, 'Register', { name, token, version: 'v1', labels, ...option })
  expect(made.status).toBe(200)
  const { id, uuid, token: secret } = made.body.runner
  return createRunner(url, Number(id), { 'x-runner-uuid': uuid, 'x-runner-token': secret })
}

function createRunner(url: string, id: number, headers: Record<string, string>) {
  const send = (method: string, message: unknown, more: Record<string, string> = {}) =>
    call(url, method, message, { ...headers, ...more })

  /** Undefined when there is no work, and none has come within a moment. */
  const fetch = async (timeoutMs = 600) => {
    const answer = await send('FetchTask', { tasksVersion: '0' }, { 'connect-timeout-ms': String(timeoutMs) })
    expect(answer.status).toBe(200)
    const { task } = answer.body
    return task && { id: String(task.id), workflow: atob(task.workflowPayload), body: task }
  }

  const log = async (
    task: { id: string },
    rows: readonly string[],
    { index = 0, noMore = false }: { index?: number; noMore?: boolean } = {},
  ) => {
    const sent = rows.map((content) => ({ time: '2026-01-02T03:04:05.678901234Z', content }))
    const answer = await send('UpdateLog', { taskId: task.id, index: String(index), rows: sent, noMore })
    expect(answer.status).toBe(200)
    return Number(answer.body.ackIndex ?? 0)
  }

  const update = (task: { id: string }, state: object, outputs: Record<string, string> = {}) =>
    send('UpdateTask', { state: { id: task.id, ...state }, outputs })

  return {
    id,
    send,
    fetch,
    log,
    update,
    /** Work that the test is sure of. */
    async take() {
      const task = await fetch(20_000)
      if (!task) throw new Error('there is no work for the runner')
      return task
    },
    /** All that a runner says of a job. */
    async end(task: { id: string }, result = 'RESULT_SUCCESS', outputs: Record<string, string> = {}) {
      const now = new Date().toISOString()
      const step = { id: '0', startedAt: now, stoppedAt: now, result, logIndex: '0', logLength: '1' }
      await log(task, ['done'], { noMore: true })
      const answer = await update(task, { result, startedAt: now, stoppedAt: now, steps: [step] }, outputs)
      expect(answer.status).toBe(200)
    },
  }
}
