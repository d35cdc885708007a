import { describe, expect, test } from 'bun:test'
import { asksToSkip, matches, type TriggerEvent } from '../../../src/actions/workflows/match.ts'
import { read } from './support.ts'

const JOBS = '\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: true\n'
const matchesOn = async (on: string, event: TriggerEvent) => matches(await read(`${on}${JOBS}`), event)

const branch = (name: string, changedPaths?: string[]): TriggerEvent => ({
  name: 'push',
  ref: { kind: 'branch', name },
  changedPaths,
})
const tag = (name: string): TriggerEvent => ({ name: 'push', ref: { kind: 'tag', name }, changedPaths: [] })

describe('a push', () => {
  test.each([
    ['on: push', branch('main'), true],
    ['on: [push, create]', branch('main'), true],
    ['on: create', branch('main'), false],
    ['on:\n  push:', tag('v1'), true],
    // Branches alone keep tags out, and tags alone branches.
    ['on:\n  push:\n    branches: [main]', branch('main'), true],
    ['on:\n  push:\n    branches: [main]', branch('other'), false],
    ['on:\n  push:\n    branches: [main]', tag('main'), false],
    ['on:\n  push:\n    branches: main', branch('main'), true],
    ['on:\n  push:\n    branches-ignore: [main]', tag('v1'), false],
    ['on:\n  push:\n    branches-ignore: [main]', branch('other'), true],
    ['on:\n  push:\n    branches-ignore: ["mona/**"]', branch('mona/octocat'), false],
    ['on:\n  push:\n    tags: ["v*"]', tag('v1'), true],
    ['on:\n  push:\n    tags: ["v*"]', branch('v1'), false],
    ['on:\n  push:\n    tags-ignore: ["v*"]', tag('v1'), false],
    ['on:\n  push:\n    tags-ignore: ["v*"]', tag('x'), true],
    ['on:\n  push:\n    branches: [main]\n    tags: ["v*"]', tag('v1'), true],
    ['on:\n  push:\n    branches: [main]\n    tags: ["v*"]', branch('main'), true],
    ['on:\n  push:\n    branches: [main]\n    tags: ["v*"]', tag('x'), false],
    ['on:\n  push:\n    branches: ["releases/**", "!releases/**-alpha"]', branch('releases/10-alpha'), false],
    // One path is enough, and all other filters have to agree.
    ['on:\n  push:\n    paths: ["**.js"]', branch('main', ['a.md', 'b/c.js']), true],
    ['on:\n  push:\n    paths: ["**.js"]', branch('main', ['a.md']), false],
    ['on:\n  push:\n    paths: ["**.js"]', branch('main', []), false],
    ['on:\n  push:\n    paths: ["**.js"]', tag('v1'), true],
    ['on:\n  push:\n    paths: ["**.js"]', branch('main'), true],
    ['on:\n  push:\n    paths: ["sub/**", "!sub/docs/**"]', branch('main', ['sub/docs/a.md']), false],
    ['on:\n  push:\n    paths: ["sub/**", "!sub/docs/**"]', branch('main', ['sub/docs/a.md', 'sub/a']), true],
    ['on:\n  push:\n    paths-ignore: ["docs/**"]', branch('main', ['docs/a', 'docs/b']), false],
    ['on:\n  push:\n    paths-ignore: ["docs/**"]', branch('main', ['docs/a', 'b']), true],
    ['on:\n  push:\n    branches: [main]\n    paths: ["**.js"]', branch('other', ['a.js']), false],
  ])('%j and %j: %p', async (on, event, expected) => {
    expect(await matchesOn(on, event)).toBe(expected)
  })
})

describe('other events', () => {
  test.each([
    ['on: pull_request', { name: 'pull_request', type: 'opened' }, true],
    ['on: pull_request', { name: 'pull_request', type: 'labeled' }, false],
    ['on:\n  pull_request:\n    types: [labeled]', { name: 'pull_request', type: 'labeled' }, true],
    ['on:\n  pull_request:\n    types: [labeled]', { name: 'pull_request', type: 'opened' }, false],
    ['on: pull_request_target', { name: 'pull_request_target', type: 'closed' }, false],
    ['on: issues', { name: 'issues', type: 'labeled' }, true],
    ['on:\n  issues:\n    types: opened', { name: 'issues', type: 'closed' }, false],
    ['on:\n  issue_comment:\n    types: [created]', { name: 'issue_comment', type: 'created' }, true],
    ['on:\n  release:\n    types: [published]', { name: 'release', type: 'created' }, false],
    ['on: delete', { name: 'delete' }, true],
    ['on: workflow_dispatch', { name: 'workflow_dispatch' }, true],
    ['on: workflow_call', { name: 'workflow_call' }, true],
    ['on:\n  schedule:\n    - cron: "0 0 * * *"', { name: 'schedule', schedule: { cron: '0 0 * * *' } }, true],
    ['on:\n  schedule:\n    - cron: "0 0 * * *"', { name: 'schedule', schedule: { cron: '1 0 * * *' } }, false],
    [
      'on:\n  schedule:\n    - cron: "0 0 * * *"',
      { name: 'schedule', schedule: { cron: '0 0 * * *', timezone: 'Asia/Tokyo' } },
      false,
    ],
    [
      'on:\n  workflow_run:\n    workflows: [Build]',
      { name: 'workflow_run', workflow: 'Build', type: 'completed' },
      true,
    ],
    [
      'on:\n  workflow_run:\n    workflows: [Build]',
      { name: 'workflow_run', workflow: 'Test', type: 'completed' },
      false,
    ],
    ['on: push', { name: 'constructor' }, false],
  ])('%j and %j: %p', async (on, event, expected) => {
    expect(await matchesOn(on, event)).toBe(expected)
  })

  test('a pull request is matched by its base and by its paths', async () => {
    const on = 'on:\n  pull_request:\n    branches: ["releases/**"]\n    paths: ["**.js"]'
    const event = (base: string, path: string): TriggerEvent => ({
      name: 'pull_request',
      type: 'opened',
      ref: { kind: 'branch', name: base },
      changedPaths: [path],
    })
    expect(await matchesOn(on, event('releases/1', 'a.js'))).toBe(true)
    expect(await matchesOn(on, event('main', 'a.js'))).toBe(false)
    expect(await matchesOn(on, event('releases/1', 'a.md'))).toBe(false)
  })
})

test.each([
  ['Fix [skip ci]', true],
  ['[CI SKIP] x', true],
  ['a\n\n[no ci]', true],
  ['[skip actions]', true],
  ['[actions skip]', true],
  ['Fix\n\n\nskip-checks: true', true],
  ['Fix\n\n\nskip-checks:true\nCo-authored-by: x', true],
  ['skip ci', false],
  ['about skip-checks: true', false],
])('%j asks to skip: %p', (message, expected) => {
  expect(asksToSkip(message)).toBe(expected)
})
