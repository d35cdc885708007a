import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { name as packageName } from '../../package.json'
import { buildClient } from '../../src/setup/client-package.ts'
import { startTestService, type TestService } from '../harness/service.ts'

const root = resolve(import.meta.dir, '../..')

/** What the compiler may do for a stranger's program: the same wherever it runs, unlike seconds. The operations cost nothing until they are used. */
const MAX_INSTANTIATIONS = 100_000

/** A stranger's project, with nothing of ours but the package of the client. */
let folder: string
let client: string
let compiled: { output: string; exitCode: number | null }
let service: TestService

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'a stranger '))
  client = join(folder, 'node_modules', packageName)
  cpSync(join(import.meta.dir, 'foreign'), folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeDocumented(folder)
  await buildClient(client)
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const { exitCode, stdout } = Bun.spawnSync([process.execPath, compiler, '-p', folder, '--extendedDiagnostics'])
  compiled = { output: stdout.toString(), exitCode }
  service = await startTestService()
})
afterAll(async () => {
  await service?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** The programs that the documents show, each as a file. What they take for granted is put in front. */
function writeDocumented(into: string): void {
  const texts = ['README.md', 'docs/client.md'].map((path) => readFileSync(join(root, path), 'utf8'))
  const shown = texts.flatMap((text) => [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, program = '']) => program))
  const programs = shown.filter((program) => program.includes('hearth'))
  expect(programs.length).toBeGreaterThan(4)
  for (const [index, program] of programs.entries()) {
    const given = ['declare const token: string, body: string']
    if (!program.includes('createClient('))
      given.push(`import { createClient } from '${packageName}'`, "const hearth = createClient('').api.v1")
    writeFileSync(join(into, `documented-${index}.ts`), `${given.join('\n')}\n${program}\nexport {}\n`)
  }
}

test('the package needs no other, and has nothing of the service', () => {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(client, 'package.json'), 'utf8'))
  expect([dependencies, peerDependencies]).toEqual([undefined, undefined])
  const files = readdirSync(client)
  expect(files.toSorted()).toEqual([
    ...['answer.d.ts', 'api.d.ts', 'client.d.ts', 'index.d.ts', 'index.js', 'package.json', 'pages.d.ts', 'retry.d.ts'],
  ])
  const named = files.flatMap((file) => [
    ...readFileSync(join(client, file), 'utf8').matchAll(/^(?:import|export)\b[^'"]*?\bfrom ['"]([^'"]+)/gm),
  ])
  expect(named.length).toBeGreaterThan(3)
  expect(named.map(([, target = '']) => target).filter((target) => !target.startsWith('./'))).toEqual([])
})

test("a stranger's program, and each that the documents show, compiles with strict rules and all declarations checked, and wrong uses do not", () => {
  expect(compiled.output.split('\n').filter((line) => line.includes('error TS'))).toEqual([])
  expect(compiled.exitCode).toBe(0)
})

test('the compiler has little to do for it', () => {
  const instantiations = Number(/^Instantiations: +(\d+)$/m.exec(compiled.output)?.[1])
  expect(instantiations).toBeGreaterThan(0)
  expect(instantiations).toBeLessThan(MAX_INSTANTIATIONS)
})

test.each([
  ['node', Bun.which('node')],
  ['bun', process.execPath],
])('the program runs with %s', async (runtime, program) => {
  // CI has both; elsewhere Bun is enough to work on Hearth.
  if (program === null) return
  const { admin, url } = service
  const words = [join(folder, 'out', 'tour.js'), url, admin.token, `made-with-${runtime}`]
  const tour = Bun.spawn([program, ...words], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  const text = await new Response(tour.stdout).text()
  expect(await tour.exited).toBe(0)
  expect(JSON.parse(text)).toEqual({
    login: admin.name,
    conflict: 'conflict',
    titles: [7, 6, 5, 4, 3, 2, 1].map((number) => `Number ${number}`),
    found: [`made-with-${runtime}`, `made-with-${runtime}-too`],
    written: 'docs/a #1?/%2e%2e.txt',
    read: '12',
    html: expect.stringContaining('A title</h1>'),
    file: 'a.txt',
    deleted: [204, ''],
    steps: ['..', '.', ''].map((step) => `TypeError: '${step}' cannot be a step of a path`),
    isLost: true,
    below: [[`${url}/forge/api/v1/version`], 'string'],
    created: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}Z$/),
    visitor: 'token is required',
  })
})
