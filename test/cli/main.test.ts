import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'

let folder: string
let database: TestDatabase
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hearth-main-'))
  database = await createTestDatabase()
})
afterAll(async () => {
  await database.drop()
  rmSync(folder, { recursive: true, force: true })
})

test('the entry file is a web-standard handler for whoever imports it, and opens no port', async () => {
  const user = join(folder, 'user.ts')
  const main = resolve(import.meta.dir, '../../src/main.ts')
  await Bun.write(
    user,
    `import { fetch } from '${main}'
     const response = await fetch(new Request('http://localhost/api/v1/version'))
     console.log(response.status, await response.text())
     process.exit(0)`,
  )
  const child = Bun.spawn([process.execPath, user], {
    env: {
      PATH: process.env.PATH ?? '',
      DATABASE_URL: database.url,
      DATA_DIR: join(folder, 'data'),
      PORT: '1',
      LOG_LEVEL: 'warn',
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  expect(await new Response(child.stdout).text()).toMatch(/^200 \{"version":"[^"]+"\}\n$/)
  expect(await child.exited).toBe(0)
})
