// `bun run db:generate NAME [--custom]`: writes the SQL that takes the tables from the last migration to db/schema, and lists
// every file in db/migrations/index.ts, because an executable can only hold files that are imported by name.
import { resolve } from 'node:path'

const root = resolve(import.meta.dir, '..')

/** Text of db/migrations/index.ts for the files that drizzle-kit's journal names. */
export async function migrationIndex(): Promise<string> {
  const journal: unknown = await Bun.file(`${root}/db/migrations/meta/_journal.json`).json()
  const names = JSON.stringify(journal).match(/(?<="tag":")[a-z0-9_]+/g) ?? []
  const imports = names.map((name) => `import m${name.slice(0, 4)} from './${name}.sql' with { type: 'text' }`)
  const rows = names.map((name) => `  { name: '${name}', sql: m${name.slice(0, 4)} },`)
  return `// Written by \`bun run db:generate\`.
${imports.join('\n')}

export interface Migration {
  name: string
  sql: string
}

/** In the order in which they run. A released file never changes: databases remember its hash. */
export const migrations: readonly Migration[] = [
${rows.join('\n')}
]
`
}

if (import.meta.main) {
  const [name = 'change', ...flags] = process.argv.slice(2)
  run(['drizzle-kit', 'generate', '--config=db/drizzle.config.ts', '--name', name, ...flags])
  await Bun.write(`${root}/db/migrations/index.ts`, await migrationIndex())
  run(['biome', 'check', '--write', 'db/migrations/index.ts'])
}

function run(command: string[]): void {
  const { exitCode } = Bun.spawnSync([process.execPath, 'x', ...command], {
    cwd: root,
    stdio: ['inherit', 'inherit', 'inherit'],
  })
  if (exitCode !== 0) process.exit(exitCode)
}
