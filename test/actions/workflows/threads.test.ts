import { afterEach, expect, test } from 'bun:test'
import { parse } from 'yaml'
import { createWorkflows, type Workflows } from '../../../src/actions/workflows/workflows.ts'
import { contexts, PATH, readyJob, withJobs } from './support.ts'

let workflows: Workflows | undefined
afterEach(() => workflows?.stop())

test('a workflow is read, matched, planned and written in a thread', async () => {
  workflows = createWorkflows()
  const { workflow } = await workflows.read(withJobs('  a: { runs-on: x, steps: [{ run: x }] }'), PATH)
  if (!workflow) throw new Error('not read')
  expect(await workflows.match(workflow, { name: 'push' })).toEqual({ isMatched: true })
  const { plan } = await workflows.plan({ workflow, called: {} }, contexts())
  if (!plan) throw new Error('not planned')
  const payload = await workflows.writePayload(workflow, readyJob(plan, 'a'))
  expect(parse(payload)).toMatchObject({ on: 'push', jobs: { a: { 'runs-on': 'x' } } })
  expect((await workflows.read('on: [', PATH)).errors).toHaveLength(1)
})

test('too much work is an error of the workflow, and the next one is read', async () => {
  workflows = createWorkflows({ deadlineMs: 1 })
  const text = withJobs(
    Array.from({ length: 500 }, (_, index) => `  a${index}: { runs-on: x, steps: [{ run: x }] }\n`).join(''),
  )
  for (const _ of [1, 2])
    expect((await workflows.read(text, PATH)).errors?.[0]?.message).toBe('It takes too long to work this out.')
})
