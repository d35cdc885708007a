import { describe, expect, test } from 'bun:test'
import { readFamily } from '../../../src/actions/workflows/family.ts'
import { readWorkflow } from '../../../src/actions/workflows/read.ts'
import { ended, namesOf, planOf, read, readyJob, statesOf, withJobs } from './support.ts'

const INNER = '.gitea/workflows/inner.yml'
const inner = (on: string, jobs = '  build: { runs-on: x, steps: [{ run: x }] }\n') =>
  read(`on:\n  workflow_call:\n${on}jobs:\n${jobs}`, INNER)
const call = (more = '') => `  call:\n    uses: ./${INNER}\n${more}`

describe('a called workflow', () => {
  test('puts its jobs in the place of its caller', async () => {
    const jobs =
      '  build: { runs-on: x, steps: [{ run: x }] }\n  test: { needs: build, runs-on: x, steps: [{ run: x }] }\n'
    const called = { [INNER]: await inner('', jobs) }
    const text = withJobs(`${call()}  after: { needs: call, runs-on: x, steps: [{ run: x }] }\n`)
    const plan = await planOf(text, {}, called)
    expect(statesOf(plan)).toEqual(['call/build: ready', 'call/test: blocked', 'after: blocked'])
    expect(namesOf(plan)).toEqual(['call / build', 'call / test', 'after'])
    expect(readyJob(plan, 'call/build')).toMatchObject({ id: 'build', path: INNER, isCalled: true })
    const finished = { 'call/build': ended('success'), 'call/test': ended('success') }
    expect(statesOf(await planOf(text, { finished }, called))[2]).toBe('after: ready')
    const failed = { 'call/build': ended('failure') }
    expect(statesOf(await planOf(text, { finished: failed }, called))).toEqual([
      'call/build: finished',
      'call/test: skipped',
      'after: skipped',
    ])
  })

  test('may be called by each job of a matrix', async () => {
    const called = { [INNER]: await inner('    inputs: { v: { type: number } }\n') }
    const more = `    strategy: { matrix: { v: [1, 2] } }\n    with: { v: '\${{ matrix.v }}' }\n`
    const plan = await planOf(withJobs(call(more)), {}, called)
    expect(namesOf(plan)).toEqual(['call (1) / build', 'call (2) / build'])
    expect(readyJob(plan, 'call[1]/build').inputs).toEqual({ v: 2 })
  })

  test('is one job while its caller waits, or where it is skipped', async () => {
    const called = { [INNER]: await inner('') }
    const text = withJobs(`  a: { runs-on: x, steps: [{ run: x }] }\n${call('    needs: a\n')}`)
    expect(statesOf(await planOf(text, {}, called))[1]).toBe('call: blocked')
    const finished = { a: ended('failure') }
    expect(statesOf(await planOf(text, { finished }, called))[1]).toBe('call: skipped')
  })

  test('gives its outputs to the jobs behind its caller', async () => {
    const called = { [INNER]: await inner(`    outputs: { v: { value: 'v\${{ jobs.build.outputs.v }}' } }\n`) }
    const after = `  after: { needs: call, name: '\${{ needs.call.outputs.v }}', runs-on: x, steps: [{ run: x }] }\n`
    const finished = { 'call/build': ended('success', { v: '7' }) }
    expect(namesOf(await planOf(withJobs(`${call()}${after}`), { finished }, called))[1]).toBe('v7')
  })

  test('has inputs of its own, and secrets by the names of the repository', async () => {
    const on = `    inputs:
      target: { type: string, required: true }
      count: { type: number, default: '\${{ fromJSON(vars.COUNT) }}' }
      dry: { type: boolean }
    secrets: { key: { required: true }, other: }
`
    const called = { [INNER]: await inner(on) }
    const more = `    with: { target: 'on \${{ github.ref_name }}' }\n    secrets: { key: '\${{ secrets.deploy_key }}' }\n`
    const job = readyJob(await planOf(withJobs(call(more)), { vars: { COUNT: '3' } }, called), 'call/build')
    expect(job.inputs).toEqual({ target: 'on main', count: 3, dry: false })
    expect(job.secrets).toEqual({ KEY: 'DEPLOY_KEY' })
  })

  test('can pass on only the secrets that it was given', async () => {
    const middle = await read(
      `on:\n  workflow_call:\n    secrets: { a: }\njobs:\n  one:\n    uses: ./${INNER}\n    secrets: { x: '\${{ secrets.A }}', y: '\${{ secrets.B }}', z: '\${{ secrets.GITHUB_TOKEN }}' }\n  two:\n    uses: ./${INNER}\n    secrets: inherit\n`,
      '.gitea/workflows/middle.yml',
    )
    const called = { [INNER]: await inner('    secrets: { x: , y: , z: }\n'), [middle.path]: middle }
    const text = withJobs(`  call:\n    uses: ./${middle.path}\n    secrets: { a: '\${{ secrets.FIRST }}' }\n`)
    const plan = await planOf(text, {}, called)
    expect(readyJob(plan, 'call/one/build').secrets).toEqual({ X: 'FIRST', Z: 'GITHUB_TOKEN' })
    expect(readyJob(plan, 'call/two/build').secrets).toEqual({ A: 'FIRST' })
  })

  test('may never do more than its caller', async () => {
    const jobs =
      '  build: { runs-on: x, permissions: { contents: write, issues: read, packages: read }, steps: [{ run: x }] }\n'
    const called = { [INNER]: await inner('', jobs) }
    const more = '    permissions: { contents: read, issues: write }\n'
    const { permissions } = readyJob(await planOf(withJobs(call(more)), {}, called), 'call/build')
    expect(permissions).toEqual({ contents: 'read', issues: 'read', packages: 'none' })
  })

  test('holds the place of its caller together with the other jobs of the call', async () => {
    const jobs =
      '  a: { runs-on: x, steps: [{ run: x }] }\n  b: { runs-on: x, concurrency: own, steps: [{ run: x }] }\n'
    const called = { [INNER]: await inner('', jobs) }
    const plan = await planOf(withJobs(call('    concurrency: deploy\n')), {}, called)
    const held = (key: string) => readyJob(plan, key).concurrency.map(({ group, holder }) => [group, holder])
    expect(held('call/a')).toEqual([['deploy', 'call']])
    expect(held('call/b')).toEqual([
      ['deploy', 'call'],
      ['own', 'call/b'],
    ])
  })
})

describe('a call that is wrong fails its job with the reason:', () => {
  test.each([
    ['an unknown input', '    with: { nothing: 1 }\n', '', 'The workflow has no input `nothing`.'],
    ['a missing input', '', '    inputs: { a: { type: string, required: true } }\n', 'The input `a` is required.'],
    [
      'an input of another kind',
      '    with: { a: x }\n',
      '    inputs: { a: { type: number } }\n',
      'The input `a` has to be a number.',
    ],
    ['an unknown secret', `    secrets: { a: '\${{ secrets.A }}' }\n`, '', 'The called workflow has no secret `A`.'],
    ['a missing secret', '', '    secrets: { a: { required: true } }\n', 'The secret `A` is required.'],
  ])('%s', async (_, more, on, reason) => {
    expect(statesOf(await planOf(withJobs(call(more)), {}, { [INNER]: await inner(on) }))).toEqual([`call: ${reason}`])
  })

  test('a workflow that is not there, or cannot be called', async () => {
    expect(statesOf(await planOf(withJobs(call())))).toEqual([`call: The workflow \`${INNER}\` does not exist.`])
    const called = { [INNER]: await read(withJobs('  a: { runs-on: x, steps: [{ run: x }] }'), INNER) }
    expect(statesOf(await planOf(withJobs(call()), {}, called))[0]).toContain('cannot be called')
  })

  test('a workflow that calls itself, and too many levels', async () => {
    const level = (index: number, next: number) =>
      read(
        `on: workflow_call\njobs:\n  n:\n    uses: ./.gitea/workflows/${next}.yml\n`,
        `.gitea/workflows/${index}.yml`,
      )
    const own = { [INNER]: await inner('', call()) }
    expect(statesOf(await planOf(withJobs(call()), {}, own))).toEqual([
      `call/call: The workflow \`${INNER}\` calls itself.`,
    ])
    const levels = await Promise.all([1, 2, 3, 4].map((index) => level(index, index + 1)))
    const called = Object.fromEntries(levels.map((workflow) => [workflow.path, workflow]))
    const text = withJobs('  n:\n    uses: ./.gitea/workflows/1.yml\n')
    expect(statesOf(await planOf(text, {}, called))).toEqual([
      'n/n/n/n: Workflows call each other more than 4 levels deep.',
    ])
  })
})

describe('the family of a workflow', () => {
  const files: Record<string, string> = {
    '.gitea/workflows/a.yml': 'on: workflow_call\njobs:\n  n:\n    uses: ./.gitea/workflows/b.yml\n',
    '.gitea/workflows/b.yml': 'on: workflow_call\njobs:\n  n: { runs-on: x, steps: [{ run: x }] }\n',
    '.gitea/workflows/broken.yml': 'on: [\n',
  }
  const familyOf = async (path: string) =>
    readFamily(await read(withJobs(`  call:\n    uses: ./.gitea/workflows/${path}\n`)), async (name) => {
      const text = files[name]
      return text === undefined ? undefined : readWorkflow(text, { path: name })
    })

  test('is all that it calls, and that these call', async () => {
    const { family } = await familyOf('a.yml')
    expect(Object.keys(family?.called ?? {})).toEqual(['.gitea/workflows/a.yml', '.gitea/workflows/b.yml'])
  })

  test.each([
    ['none.yml', { message: '`.gitea/workflows/none.yml`, which the job `call` calls, does not exist.', line: 3 }],
    ['broken.yml', { message: expect.stringContaining('In `.gitea/workflows/broken.yml`: This is not YAML'), line: 2 }],
  ])('is not known with %s', async (path, error) => {
    expect((await familyOf(path)).errors?.[0]).toMatchObject(error)
  })

  test('has at most 20 members', async () => {
    const jobs = Array.from({ length: 21 }, (_, index) => `  j${index}:\n    uses: ./.gitea/workflows/${index}.yml\n`)
    const { errors } = await readFamily(await read(withJobs(jobs.join(''))), (path) =>
      readWorkflow('on: workflow_call\njobs:\n  n: { runs-on: x, steps: [{ run: x }] }\n', { path }),
    )
    expect(errors?.[0]?.message).toBe('The workflow calls more than 20 others.')
  })
})
