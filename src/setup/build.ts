// `bun run build [--target=bun-linux-arm64] [--outfile=PATH]`: one executable. The built-in PostgreSQL is not in it: that is
// 60 MB of programs that run from files, so DATABASE_URL is needed.
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { compile } from './compile.ts'

const { values } = parseArgs({
  options: {
    outfile: { type: 'string', default: resolve(import.meta.dir, '../../dist/hearth') },
    target: { type: 'string' },
  },
})
const { exitCode, log } = compile(resolve(values.outfile), values.target)
process.stderr.write(log)
process.exit(exitCode)
