import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createTestDatabase } from '../harness/database.ts'
import { until } from '../harness/until.ts'
import { openQueue } from './queue.ts'

const folder = mkdtempSync(join(tmpdir(), 'hearth-jobs-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('the queue and its timers work in an executable, far from any package', async () => {
  const program = join(folder, 'worker')
  const source = resolve(import.meta.dir, 'worker-process.ts')
  const build = Bun.spawn([process.execPath, 'build', '--compile', source, '--outfile', program], {
    stdout: 'ignore',
    stderr: 'ignore',
  })
  expect(await build.exited).toBe(0)
  const home = await createTestDatabase()
  const queue = openQueue(home.url)
  const child = Bun.spawn([program, home.url, 'work', '@every 1s'], { cwd: folder, stdout: 'pipe', stderr: 'inherit' })
  try {
    await queue.add(1)
    let said = ''
    void (async () => {
      for await (const chunk of child.stdout) said += new TextDecoder().decode(chunk)
    })()
    await until(() => said.includes('work 1 1') && said.includes('beat'), 'the executable ran the job and the task')
  } finally {
    child.kill('SIGKILL')
    await child.exited
    await queue.close()
    await home.drop()
  }
})
