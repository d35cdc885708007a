// `bun run build [--target=bun-linux-arm64] [--outfile=PATH]`: one executable with migrations, templates and static files
// inside. The built-in PostgreSQL is not: it is 60 MB of programs that run from files, so DATABASE_URL is needed.
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

const root = resolve(import.meta.dir, '../..')
const { values } = parseArgs({
  options: { outfile: { type: 'string', default: `${root}/dist/hearth` }, target: { type: 'string' } },
})
const target = values.target === undefined ? [] : [`--target=${values.target}`]
// The main program and those of threads, which are named by their places below src (src/kernel/thread-program.ts).
const programs = [
  'src/main.ts',
  'src/auth/hash-worker.ts',
  'src/render/markdown-worker.ts',
  'src/render/markup-worker.ts',
]
// ssh2 looks for a native part that is not built here, and goes on without it.
const flags = ['--compile', '--minify', '--sourcemap', '--external=cpu-features', ...target]
const words = ['build', ...flags, `--outfile=${values.outfile}`, ...programs]
const { exitCode } = Bun.spawnSync([process.execPath, ...words], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
process.exit(exitCode)
