import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { readWorkflowFiles } from '../../../src/actions/workflows/files.ts'
import { must, openStage, type Stage } from '../../git/stage.ts'

let stage: Stage
let work: string
beforeAll(async () => {
  stage = await openStage()
  await stage.git.createRepository(1, { objectFormat: 'sha1', defaultBranch: 'main' })
  work = stage.work('work')
  await must(['init', '-q', '-b', 'main', work])
})
afterAll(() => stage.close())

/** What is found in a commit of these files and no others. */
async function filesOf(files: Record<string, string | Uint8Array>) {
  await must(['rm', '-rq', '--ignore-unmatch', '.'], work)
  for (const [path, content] of Object.entries(files)) await Bun.write(join(work, path), content)
  await must(['add', '-A', '.'], work)
  await must(['commit', '-q', '--allow-empty', '-m', 'x'], work)
  await must(['push', '-qf', stage.folder(1), 'main'], work)
  return readWorkflowFiles(stage.git, 1, await must(['rev-parse', 'HEAD'], work))
}

test('workflows are the YAML files of the folder', async () => {
  const files = {
    '.github/workflows/b.yaml': 'on: push',
    '.github/workflows/a.yml': 'on: create',
    '.github/workflows/notes.md': 'x',
    '.github/workflows/sub/c.yml': 'x',
    'd.yml': 'x',
  }
  expect(await filesOf(files)).toEqual([
    { path: '.github/workflows/a.yml', text: 'on: create' },
    { path: '.github/workflows/b.yaml', text: 'on: push' },
  ])
})

test('where .gitea/workflows exists, .github/workflows does not count', async () => {
  const github = { '.github/workflows/a.yml': 'on: push' }
  expect(await filesOf({ ...github, '.gitea/workflows/b.yml': 'on: push' })).toEqual([
    { path: '.gitea/workflows/b.yml', text: 'on: push' },
  ])
  expect(await filesOf({ ...github, '.gitea/workflows/README.md': 'x' })).toEqual([])
  expect(await filesOf({ ...github, '.gitea/template.yml': 'x' })).toHaveLength(1)
})

test('a repository without workflows has none', async () => {
  expect(await filesOf({ 'a.txt': 'x' })).toEqual([])
  expect(await filesOf({ '.gitea/workflows': 'a file' })).toEqual([])
})

test('a name that is longer than those of file systems is passed over', async () => {
  await filesOf({ '.gitea/workflows/a.yml': 'on: push' })
  const blob = await must(['rev-parse', 'HEAD:.gitea/workflows/a.yml'], work)
  const path = `.gitea/workflows/${'b'.repeat(3000)}.yml`
  await must(['update-index', '--add', '--cacheinfo', `100644,${blob},${path}`], work)
  await must(['commit', '-q', '-m', 'x'], work)
  await must(['push', '-qf', stage.folder(1), 'main'], work)
  const found = await readWorkflowFiles(stage.git, 1, await must(['rev-parse', 'HEAD'], work))
  expect(found.map((file) => file.path)).toEqual(['.gitea/workflows/a.yml'])
})

test('what cannot be read is named with the reason', async () => {
  const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`.gitea/workflows/z${index}.yml`, 'x']))
  const found = await filesOf({
    ...many,
    '.gitea/workflows/a.yml': 'x'.repeat(256 * 1024 + 1),
    '.gitea/workflows/b.yml': Uint8Array.of(0xff, 0xfe),
  })
  expect(found[0]).toEqual({ path: '.gitea/workflows/a.yml', problem: 'The file is longer than 262144 bytes.' })
  expect(found[1]).toEqual({ path: '.gitea/workflows/b.yml', problem: 'The file is not text in UTF-8.' })
  expect(found.filter(({ text }) => text !== undefined)).toHaveLength(98)
  expect(found.at(-1)).toMatchObject({ problem: 'The repository has more than 100 workflows.' })
})
