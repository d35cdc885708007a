import { expect, test } from 'bun:test'
import { parse } from 'yaml'
import { writePayload } from '../../../src/actions/workflows/payload.ts'
import { planJobs } from '../../../src/actions/workflows/plan.ts'
import type { PlanContexts } from '../../../src/actions/workflows/plan-model.ts'
import { contexts, ended, read, readyJob } from './support.ts'

async function payloadOf(text: string, key: string, more: Partial<PlanContexts> = {}): Promise<string> {
  const workflow = await read(text)
  const { plan } = planJobs({ workflow, called: {} }, contexts(more))
  if (!plan) throw new Error('no plan')
  return writePayload(workflow, readyJob(plan, key))
}

const WORKFLOW = `
name: Build
on: { push: { branches: [main] } }
env: { LEVEL: 3 }
concurrency: ci
jobs:
  first: { runs-on: x, steps: [{ run: x }] }
  build:
    needs: first
    if: success()
    runs-on: ['\${{ matrix.os }}']
    concurrency: build
    timeout-minutes: \${{ fromJSON('5') }}
    strategy: { max-parallel: 2, matrix: { os: [linux, windows], v: [[1, 2]] } }
    outputs: { sum: '\${{ steps.s.outputs.sum }}' }
    env: { TOKEN: '\${{ secrets.TOKEN }}', ANSWER: 'no', SIZE: '1e3' }
    container: { image: 'node:\${{ matrix.v }}' }
    steps:
      - uses: actions/checkout@v4
      - { id: s, if: always(), run: "echo 1\\necho 2\\n" }
`

test('a runner gets the one job of one combination', async () => {
  const text = await payloadOf(WORKFLOW, 'build[1]', { finished: { first: ended('success') } })
  expect(parse(text)).toEqual({
    name: 'Build',
    on: { push: { branches: ['main'] } },
    env: { LEVEL: 3 },
    jobs: {
      build: {
        name: 'build (windows, 1, 2)',
        'runs-on': 'windows',
        'timeout-minutes': 5,
        'continue-on-error': false,
        strategy: { 'fail-fast': true, 'max-parallel': 2, matrix: { os: ['windows'], v: [[1, 2]] } },
        outputs: { sum: `\${{ steps.s.outputs.sum }}` },
        env: { TOKEN: `\${{ secrets.TOKEN }}`, ANSWER: 'no', SIZE: '1e3' },
        container: { image: `node:\${{ matrix.v }}` },
        steps: [{ uses: 'actions/checkout@v4' }, { id: 's', if: 'always()', run: 'echo 1\necho 2\n' }],
      },
    },
  })
  expect(parse(text, { version: '1.1' }).jobs.build.env).toMatchObject({ ANSWER: 'no', SIZE: '1e3' })
})

test('several labels are a list', async () => {
  const text = await payloadOf('on: push\njobs:\n  a: { runs-on: [self-hosted, linux], steps: [{ run: x }] }\n', 'a')
  expect(parse(text).jobs.a['runs-on']).toEqual(['self-hosted', 'linux'])
})

test('a message of a commit cannot read secrets on the runner', async () => {
  const message = `\${{ secrets.TOKEN }}`
  const github = { event: { head_commit: { message } } }
  const text = `on: push
jobs:
  a:
    name: \${{ github.event.head_commit.message }}
    runs-on: \${{ github.event.head_commit.message }}
    strategy: { matrix: { m: ['\${{ github.event.head_commit.message }}'] } }
    steps: [{ run: x }]
`
  const job = parse(await payloadOf(text, 'a[0]', { github })).jobs.a
  const escaped = `\${{ '$' }}{{ secrets.TOKEN }}`
  expect([job.name, job['runs-on'], job.strategy.matrix.m]).toEqual([escaped, escaped, [escaped]])
})
