import { expect, test } from 'bun:test'
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { migrations } from '../../db/migrations/index.ts'

const root = resolve(import.meta.dir, '../..')
const folder = join(root, 'db/migrations')
const sqlFiles = (path: string): string[] =>
  readdirSync(path)
    .filter((name) => name.endsWith('.sql'))
    .sort()

test('the migrations lead to the tables of db/schema', async () => {
  const copy = mkdtempSync(join(tmpdir(), 'hearth-migrations-'))
  try {
    cpSync(folder, copy, { recursive: true })
    const words = [
      '--dialect=postgresql',
      '--schema=./db/schema/*.ts',
      '--casing=snake_case',
      `--out=${relative(root, copy)}`,
    ]
    const kit = Bun.spawn([process.execPath, 'x', 'drizzle-kit', 'generate', ...words], {
      cwd: root,
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const output = await new Response(kit.stdout).text()
    expect(output).toContain('No schema changes')
    expect(sqlFiles(copy)).toEqual(sqlFiles(folder))
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
})

test('the program holds every migration, in order and word for word', async () => {
  const files = sqlFiles(folder)
  expect(migrations.map(({ name }) => `${name}.sql`)).toEqual(files)
  const texts = await Promise.all(files.map((name) => Bun.file(join(folder, name)).text()))
  expect(migrations.map(({ sql }) => sql)).toEqual(texts)
})
