import { describe, expect, test } from 'bun:test'
import { EVERYTHING } from './everything.ts'
import { faultsOf, read, withJobs } from './support.ts'

describe('a workflow with everything', () => {
  test('its head is read', async () => {
    const workflow = await read(EVERYTHING)
    expect(workflow).toMatchObject({
      path: '.gitea/workflows/ci.yml',
      name: 'Build',
      runName: `Build of \${{ github.ref_name }} by \${{ gitea.actor }}`,
      permissions: { contents: 'read', wiki: 'write' },
      concurrency: { group: `ci-\${{ github.ref }}`, cancelInProgress: true, queue: 'single' },
      source: { env: { CI: true, LEVEL: 3 }, defaults: { run: { shell: 'bash' } } },
    })
    expect(Object.keys(workflow.source)).toEqual(['name', 'on', 'permissions', 'env', 'defaults'])
  })

  test('its triggers are read', async () => {
    const { on } = await read(EVERYTHING)
    expect(on.events.push).toMatchObject({ branches: ['main', 'releases/**'], pathsIgnore: ['docs/**'] })
    expect(Object.keys(on.events)).toEqual(['push', 'schedule', 'workflow_dispatch', 'workflow_call'])
    expect(on.schedule).toEqual([{ cron: '30 5 * * 1-5', timezone: 'Europe/Berlin' }])
    expect(on.inputs).toEqual({
      level: {
        type: 'choice',
        description: 'How loud',
        isRequired: false,
        default: 'info',
        options: ['info', 'debug'],
      },
      dry: { type: 'boolean', description: undefined, isRequired: true, default: undefined, options: [] },
    })
    expect(on.call).toMatchObject({
      inputs: { target: { type: 'string', isRequired: true }, count: { type: 'number', default: 3 } },
      secrets: { TOKEN: { isRequired: true }, OTHER: { isRequired: false } },
      outputs: { version: `\${{ jobs.build.outputs.version }}` },
    })
  })

  test('its jobs are read', async () => {
    const { jobs } = await read(EVERYTHING)
    const [build, report, publish] = jobs
    expect(build).toMatchObject({
      id: 'build',
      at: { line: EVERYTHING.split('\n').indexOf('  build:') + 1, column: 3 },
      name: `Build \${{ matrix.os }}`,
      needs: [],
      condition: 'success()',
      runsOn: `\${{ matrix.os }}`,
      strategy: { matrix: { os: ['linux', 'windows'] }, failFast: false, maxParallel: 2 },
      timeoutMinutes: 10,
      continueOnError: `\${{ matrix.os == 'windows' }}`,
      environment: 'production',
      outputs: { version: `\${{ steps.v.outputs.version }}` },
      steps: [{ title: 'Run actions/checkout@v4' }, { title: 'Find the version' }, { title: 'Run make' }],
    })
    expect(build?.permissions).toMatchObject({ contents: 'read', issues: 'read', releases: 'read' })
    expect(report).toMatchObject({ needs: ['build'], condition: `success() && (github.event_name == 'push')` })
    expect(publish).toMatchObject({
      condition: 'always()',
      call: { path: '.gitea/workflows/publish.yml', inputs: { target: 'site' }, secrets: { KEY: 'DEPLOY_KEY' } },
    })
  })

  test('it can be stored as JSON', async () => {
    const workflow = await read(EVERYTHING)
    expect(JSON.parse(JSON.stringify(workflow))).toEqual(JSON.parse(JSON.stringify(structuredClone(workflow))))
  })
})

test('a workflow without a name is called by its path', async () => {
  expect((await read(withJobs('  a: { runs-on: x, steps: [{ run: x }] }'))).name).toBe('.gitea/workflows/ci.yml')
})

test('aliases stand for what they name', async () => {
  const { jobs } = await read(withJobs('  a: &a { runs-on: x, steps: [{ run: x }] }\n  b: *a'))
  expect(jobs.map(({ id, runsOn }) => [id, runsOn])).toEqual([
    ['a', 'x'],
    ['b', 'x'],
  ])
})

describe('what is wrong is said with its place:', () => {
  const job = (more: string) => withJobs(`  a:\n    runs-on: x\n    steps: [{ run: x }]\n${more}`)
  test.each([
    ['no YAML', 'on: [push\njobs: {}', '2:1 This is not YAML: Flow sequence'],
    ['an empty file', '', '1:1 The file holds no workflow'],
    ['a list', '- a', '1:1 The file holds no workflow'],
    ['two documents', 'on: push\n---\non: push\n', '2:1 The file holds more than one document.'],
    ['no jobs', 'on: push\n', '1:1 Required property is missing: jobs.'],
    ['no trigger', 'jobs:\n  a:\n    runs-on: x\n    steps: []\n', '1:1 Required property is missing: on.'],
    ['an unknown key', `colour: red\n${job('')}`, `1:1 Unexpected value 'colour'.`],
    ['an unknown event', `on: pushed\njobs:\n  a:\n    runs-on: x\n    steps: []\n`, `1:5 Unexpected value 'pushed'.`],
    ['an unknown key of a job', job('    colour: red'), `6:5 Unexpected value 'colour'.`],
    ['no runner', withJobs('  a:\n    steps: [{ run: x }]'), '4:5 Required property is missing: runs-on.'],
    ['a key twice', job('    runs-on: y'), '6:5 This is not YAML: Map keys must be unique'],
    ['a job that is bad named', withJobs('  1a:\n    runs-on: x\n    steps: []'), '3:3 '],
    [
      'a circle',
      job('  b: { needs: c, runs-on: x, steps: [] }\n  c: { needs: b, runs-on: x, steps: [] }'),
      `6:15 Job 'b' depends on job 'c' which creates a cycle`,
    ],
    [
      'a circle of all jobs',
      job('    needs: a'),
      '3:3 The workflow must contain at least one job with no dependencies.',
    ],
    [
      'an unknown need',
      job('    needs: z\n  b:\n    runs-on: x\n    steps: []'),
      `6:12 Job 'a' depends on unknown job 'z'.`,
    ],
    ['an unknown context', job(`    name: \${{ nobody.x }}`), `6:11 Unrecognized named-value: 'nobody'.`],
    ['an unknown function', job(`    name: \${{ shout('x') }}`), `6:11 Unrecognized function: 'shout'.`],
    ['a context in the wrong place', job(`    if: matrix.os == 'x'`), `6:9 Unrecognized named-value: 'matrix'.`],
    ['an expression that does not end', job(`    name: \${{ github.ref`), '6:11 '],
    [
      'branches twice',
      'on:\n  push:\n    branches: [a]\n    branches-ignore: [b]\njobs:\n  a:\n    runs-on: x\n    steps: []',
      '3:5 `branches` and `branches-ignore`',
    ],
    [
      'negative patterns alone',
      'on:\n  push:\n    paths: ["!a"]\njobs:\n  a:\n    runs-on: x\n    steps: []',
      '3:5 `paths` needs a pattern without',
    ],
    [
      'a broken pattern',
      'on:\n  push:\n    tags: ["[a"]\njobs:\n  a:\n    runs-on: x\n    steps: []',
      '3:5 The pattern `[a` is none',
    ],
    [
      'a bad schedule',
      'on:\n  schedule:\n    - cron: "@daily"\njobs:\n  a:\n    runs-on: x\n    steps: []',
      '3:13 Invalid cron expression',
    ],
    [
      'a schedule that is never due',
      'on:\n  schedule:\n    - cron: "0 0 31 2 *"\njobs:\n  a:\n    runs-on: x\n    steps: []',
      '2:3 The schedule `0 0 31 2 *` is never due',
    ],
    [
      'a choice without options',
      'on:\n  workflow_dispatch:\n    inputs:\n      a: { type: choice }\njobs:\n  a:\n    runs-on: x\n    steps: []',
      `4:10 Missing 'options'`,
    ],
    [
      'a foreign workflow',
      withJobs('  a:\n    uses: o/r/.github/workflows/x.yml@main'),
      '4:5 A job can use workflows of its own repository only',
    ],
    [
      'a secret that is a text',
      withJobs('  a:\n    uses: ./.gitea/workflows/x.yml\n    secrets: { key: open }'),
      '5:16 The secret `key` has to be given as',
    ],
    [
      'a merge key',
      withJobs('  a: &a { runs-on: x, steps: [{ run: x }] }\n  b: { <<: *a }'),
      '4:8 Merge keys (<<) cannot be read.',
    ],
    ['a mapping as a key', 'on: push\n? { a: b }\n: c\n', '1:1 A key has to be a text.'],
    ['another YAML', '%YAML 1.1\n---\non: push\n', '1:1 Only YAML 1.2 can be read.'],
  ])('%s', async (_, text, expected) => {
    const [first] = await faultsOf(text)
    expect(first).toStartWith(expected)
  })

  test('at most twenty times', async () => {
    const keys = Array.from({ length: 50 }, (_, index) => `x${index}: y`).join('\n')
    expect(await faultsOf(`${keys}\n`)).toHaveLength(20)
  })
})
