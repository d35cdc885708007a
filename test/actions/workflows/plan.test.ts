import { describe, expect, test } from 'bun:test'
import { ended, namesOf, planOf, read, readyJob, statesOf, withJobs } from './support.ts'

const job = (id: string, more = ''): string => `  ${id}:\n    runs-on: linux\n    steps: [{ run: x }]\n${more}`
const jobs = (...texts: string[]): string => withJobs(texts.join(''))

describe('names', () => {
  test.each([
    ['no name', '', ['a']],
    ['a name', '    name: Build\n', ['Build']],
    [
      'a matrix',
      '    strategy: { matrix: { os: [linux, win], v: [18, 20] } }\n',
      ['a (linux, 18)', 'a (linux, 20)', 'a (win, 18)', 'a (win, 20)'],
    ],
    ['a name and a matrix', '    name: Build\n    strategy: { matrix: { os: [linux] } }\n', ['Build (linux)']],
    [
      'a name of the matrix',
      `    name: On \${{ matrix.os }}\n    strategy: { matrix: { os: [linux, win] } }\n`,
      ['On linux', 'On win'],
    ],
    ['mappings', '    strategy: { matrix: { os: [{ name: linux, v: [1, 2] }, null] } }\n', ['a (linux, 1, 2)', 'a']],
    ['a name that is empty', `    name: \${{ vars.NOTHING }}\n`, ['a']],
    [
      'a place in the matrix',
      `    name: \${{ strategy.job-index }} of \${{ strategy.job-total }}\n    strategy: { matrix: { os: [a, b] } }\n`,
      ['0 of 2', '1 of 2'],
    ],
  ])('with %s', async (_, more, expected) => {
    expect(namesOf(await planOf(jobs(job('a', more))))).toEqual(expected)
  })

  test('are one line', async () => {
    const text = jobs(job('a', `    name: \${{ github.event.message }}\n`))
    expect(namesOf(await planOf(text, { github: { event: { message: 'Fix\n\n it ' } } }))).toEqual(['Fix it'])
  })

  test('are cut at 255 characters', async () => {
    const [name] = namesOf(await planOf(jobs(job('a', `    name: ${'é'.repeat(300)}\n`))))
    expect(name).toBe('é'.repeat(255))
  })
})

describe('what a job needs', () => {
  const chain = jobs(job('a'), job('b', '    needs: a\n'), job('c', '    needs: b\n'))

  test('it waits for', async () => {
    expect(statesOf(await planOf(chain))).toEqual(['a: ready', 'b: blocked', 'c: blocked'])
    const finished = { a: ended('success') }
    expect(statesOf(await planOf(chain, { finished }))).toEqual(['a: finished', 'b: ready', 'c: blocked'])
  })

  test.each(['failure', 'cancelled', 'skipped'] as const)('ends it too: %s', async (result) => {
    const finished = { a: ended(result) }
    expect(statesOf(await planOf(chain, { finished }))).toEqual(['a: finished', 'b: skipped', 'c: skipped'])
  })

  test.each([
    ['always()', 'failure', 'ready'],
    ['always()', 'success', 'ready'],
    ['failure()', 'failure', 'ready'],
    ['failure()', 'success', 'skipped'],
    ['success()', 'success', 'ready'],
    ['success() || failure()', 'failure', 'ready'],
    ['!cancelled()', 'failure', 'ready'],
    ['cancelled()', 'success', 'skipped'],
    ['true', 'failure', 'skipped'],
    [`needs.a.result == 'failure'`, 'failure', 'skipped'],
    [`always() && needs.a.result == 'failure'`, 'failure', 'ready'],
    [`\${{ failure() }}`, 'failure', 'ready'],
  ] as const)('%j after a %s: %s', async (condition, result, expected) => {
    const text = jobs(job('a'), job('b', `    needs: a\n    if: ${JSON.stringify(condition)}\n`))
    expect(statesOf(await planOf(text, { finished: { a: ended(result) } }))[1]).toBe(`b: ${expected}`)
  })

  test('counts through others: a failed job stops all that come after it', async () => {
    const text = jobs(
      job('a'),
      job('b', '    needs: a\n    if: always()\n'),
      job('c', '    needs: b\n'),
      job('d', '    needs: b\n    if: failure()\n'),
    )
    const finished = { a: ended('failure'), b: ended('success') }
    expect(statesOf(await planOf(text, { finished })).slice(2)).toEqual(['c: skipped', 'd: ready'])
  })

  test('may be any number of jobs, in any order of the file', async () => {
    const text = jobs(job('z', '    needs: [a, b]\n'), job('a'), job('b'))
    expect(statesOf(await planOf(text))).toEqual(['z: blocked', 'a: ready', 'b: ready'])
    const finished = { a: ended('success'), b: ended('success') }
    expect(statesOf(await planOf(text, { finished }))[0]).toBe('z: ready')
  })

  test('gives outputs', async () => {
    const text = jobs(job('a'), job('b', `    needs: a\n    name: v\${{ needs.a.outputs.version }}\n`))
    expect(namesOf(await planOf(text))).toEqual(['a', 'b'])
    expect(namesOf(await planOf(text, { finished: { a: ended('success', { version: '3' }) } }))[1]).toBe('v3')
  })
})

describe('a cancelled run', () => {
  test('starts nothing but what wants to run all the same', async () => {
    const text = jobs(job('a'), job('b', '    if: always()\n'), job('c', '    if: cancelled()\n'))
    expect(statesOf(await planOf(text, { isCancelled: true }))).toEqual(['a: skipped', 'b: ready', 'c: ready'])
  })

  test('what a cancelled run has at work is waited for, also in a matrix made of outputs and in a called workflow', async () => {
    const text = withJobs(
      `  a: { runs-on: x, steps: [{ run: x }], outputs: { list: x } }
  b:
    needs: a
    strategy: { matrix: { v: "\${{ fromJSON(needs.a.outputs.list) }}" } }
    runs-on: x
    steps: [{ run: x }]
  c: { needs: a, uses: ./.gitea/workflows/c.yml }
  d: { needs: b, if: always(), runs-on: x, steps: [{ run: x }] }
  e: { needs: c, if: always(), runs-on: x, steps: [{ run: x }] }
`,
    )
    const path = '.gitea/workflows/c.yml'
    const called = { [path]: await read('on: workflow_call\njobs: { x: { runs-on: x, steps: [{ run: x }] } }', path) }
    const known = { finished: { a: ended('success', { list: '[1]' }) }, isCancelled: true }
    expect(statesOf(await planOf(text, { ...known, open: ['b[0]', 'c/x'] }, called))).toEqual([
      'a: finished',
      'b[0]: skipped',
      'c/x: skipped',
      'd: blocked',
      'e: blocked',
    ])
    expect(statesOf(await planOf(text, known, called))).toEqual([
      'a: finished',
      'b: skipped',
      'c: skipped',
      'd: ready',
      'e: ready',
    ])
  })
})

describe('a matrix', () => {
  const matrix = '    strategy: { matrix: { v: [1, 2] } }\n'

  test('is one job for each combination, also while it waits', async () => {
    const text = jobs(job('a'), job('b', `    needs: a\n${matrix}`))
    expect(statesOf(await planOf(text))).toEqual(['a: ready', 'b[0]: blocked', 'b[1]: blocked'])
    const plan = await planOf(text, { finished: { a: ended('success') } })
    expect(readyJob(plan, 'b[1]')).toMatchObject({ matrix: { v: 2 }, strategy: { index: 1, total: 2, failFast: true } })
  })

  test('counts as failed with one failed job, and gives the outputs of all', async () => {
    const text = jobs(
      job('a', matrix),
      job('b', `    needs: a\n    if: always()\n    name: \${{ needs.a.result }} \${{ needs.a.outputs.x }}\n`),
    )
    const half = { 'a[0]': ended('failure', { x: 'one' }) }
    expect(statesOf(await planOf(text, { finished: half }))).toEqual(['a[0]: finished', 'a[1]: ready', 'b: blocked'])
    const finished = { ...half, 'a[1]': ended('success', { x: '' }) }
    expect(namesOf(await planOf(text, { finished }))[2]).toBe('failure one')
  })

  test('may come from outputs', async () => {
    const text = jobs(
      job('a'),
      job('b', `    needs: a\n    strategy: { matrix: { v: '\${{ fromJSON(needs.a.outputs.list) }}' } }\n`),
    )
    expect(statesOf(await planOf(text))[1]).toBe('b: blocked')
    const finished = { a: ended('success', { list: '[1,2]' }) }
    expect(statesOf(await planOf(text, { finished })).slice(1)).toEqual(['b[0]: ready', 'b[1]: ready'])
    expect(statesOf(await planOf(text, { finished: { a: ended('failure') } }))[1]).toBe('b: skipped')
    const [, broken] = statesOf(await planOf(text, { finished: { a: ended('success', { list: 'x' }) } }))
    expect(broken).toStartWith('b: The expression `fromJSON(needs.a.outputs.list)` fails')
  })

  test('may be one expression', async () => {
    const text = jobs(job('a', `    strategy: { matrix: '\${{ fromJSON(vars.MATRIX) }}' }\n`))
    const plan = await planOf(text, { vars: { MATRIX: '{"os":["a","b"],"include":[{"os":"c"}]}' } })
    expect(namesOf(plan)).toEqual(['a (a)', 'a (b)', 'a (c)'])
  })

  test('may have its parts, or all of its strategy, from an expression', async () => {
    const vars = {
      LIST: '[{"os":"a"},{"os":"b"}]',
      ALL: `{"fail-fast":false,"max-parallel":1,"matrix":{"t":["\${{ x }}"]}}`,
    }
    const include = jobs(job('a', `    strategy: { matrix: { include: '\${{ fromJSON(vars.LIST) }}' } }\n`))
    expect(namesOf(await planOf(include, { vars }))).toEqual(['a (a)', 'a (b)'])
    const whole = jobs(job('a', `    strategy: \${{ fromJSON(vars.ALL) }}\n`))
    const ready = readyJob(await planOf(whole, { vars }), 'a[0]')
    expect(ready).toMatchObject({
      matrix: { t: `\${{ x }}` },
      strategy: { failFast: false, maxParallel: 1, index: 0, total: 1 },
    })
    expect(statesOf(await planOf(whole, { vars: { ALL: '1' } }))).toEqual(['a: The strategy is not a mapping.'])
  })

  test('that is none fails its job alone, with the place', async () => {
    const { jobs: planned } = await planOf(jobs(job('a', `    strategy: { matrix: '\${{ vars.NO }}' }\n`), job('b')))
    expect(planned).toMatchObject([
      { key: 'a', state: 'invalid', problem: { message: 'The matrix is not a mapping.', line: 3, column: 3 } },
      { key: 'b', state: 'ready' },
    ])
  })
})

describe('settings', () => {
  const ready = async (more: string, vars: Record<string, string> = {}) =>
    readyJob(await planOf(withJobs(`  a:\n    steps: [{ run: x }]\n${more}`), { vars }), 'a')

  test.each([
    ['linux', { labels: ['linux'] }],
    ['[self-hosted, linux]', { labels: ['self-hosted', 'linux'] }],
    [`\${{ vars.ONE }}`, { labels: ['arm'] }],
    [`\${{ fromJSON(vars.MANY) }}`, { labels: ['a', 'b'] }],
    [`['\${{ vars.ONE }}', x]`, { labels: ['arm', 'x'] }],
    ['{ group: big }', { labels: [], group: 'big' }],
    ['{ group: big, labels: x }', { labels: ['x'], group: 'big' }],
  ])('runs-on %s', async (runsOn, expected) => {
    expect(await ready(`    runs-on: ${runsOn}\n`, { ONE: 'arm', MANY: '["a","b"]' })).toMatchObject(expected)
  })

  test('labels are told from the start, as far as they can be', async () => {
    const text = withJobs(`  a: { runs-on: x, steps: [{ run: x }] }
  b: { needs: a, runs-on: [y, '\${{ matrix.v }}'], strategy: { matrix: { v: [z] } }, steps: [{ run: x }] }
  c: { needs: a, runs-on: '\${{ needs.a.outputs.v }}', steps: [{ run: x }] }
  d: { if: false, runs-on: y, steps: [{ run: x }] }
  e: { if: false, runs-on: '\${{ vars.NO }}', steps: [{ run: x }] }
`)
    const labels = (await planOf(text)).jobs.map((job) => ('labels' in job ? job.labels : undefined))
    expect(labels).toEqual([['x'], ['y', 'z'], [], ['y'], []])
  })

  test('have their defaults', async () => {
    expect(await ready('    runs-on: x\n')).toMatchObject({
      timeoutMinutes: 360,
      continueOnError: false,
      permissions: undefined,
      concurrency: [],
      secrets: 'all',
      isCalled: false,
    })
  })

  test('are evaluated', async () => {
    const more = `    runs-on: x
    timeout-minutes: \${{ fromJSON(vars.MINUTES) }}
    continue-on-error: \${{ vars.MINUTES == '7' }}
    environment: \${{ vars.WHERE }}
    permissions: { contents: write }
    concurrency: { group: 'g-\${{ github.ref_name }}', cancel-in-progress: true }
    strategy: { fail-fast: false, max-parallel: 3 }
`
    expect(await ready(more, { MINUTES: '7', WHERE: 'site' })).toMatchObject({
      timeoutMinutes: 7,
      continueOnError: true,
      environment: 'site',
      permissions: { contents: 'write' },
      concurrency: [{ group: 'g-main', cancelInProgress: true, queue: 'single', holder: 'a' }],
      strategy: { failFast: false, maxParallel: 3 },
    })
  })

  test.each([
    [`runs-on: \${{ vars.NO }}`, '`runs-on` names no runner.'],
    [`runs-on: x\n    timeout-minutes: \${{ vars.WORD }}`, '`timeout-minutes` is no number above zero.'],
    ['runs-on: x\n    timeout-minutes: -1', '`timeout-minutes` is no number above zero.'],
    ['runs-on: x\n    timeout-minutes: 1e9', '`timeout-minutes` is above 50400.'],
    [`runs-on: x\n    continue-on-error: \${{ vars.WORD }}`, '`continue-on-error` is neither true nor false.'],
    [`runs-on: x\n    concurrency: \${{ vars.NO }}`, 'The group of `concurrency` is empty'],
  ])('that are wrong make the job invalid: %j', async (more, reason) => {
    const text = withJobs(`  a:\n    steps: [{ run: x }]\n    ${more}\n`)
    const [state] = statesOf(await planOf(text, { vars: { WORD: 'word' } }))
    expect(state).toContain(reason)
  })

  test('of the workflow hold for the run and for jobs that say nothing', async () => {
    const head = `run-name: By \${{ gitea.actor }}\nconcurrency: all\npermissions: read-all\n`
    const plan = await planOf(`${head}${jobs(job('a'), job('b', '    permissions: {}\n'))}`)
    expect(plan).toMatchObject({ runName: 'By octocat', concurrency: { group: 'all', holder: '' } })
    expect(readyJob(plan, 'a').permissions).toMatchObject({ contents: 'read' })
    expect(readyJob(plan, 'b').permissions).toEqual({})
  })
})
