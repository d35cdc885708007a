// `bun run build:client [--outdir=PATH]`: the package of the typed client, by default in dist/client.
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { buildClient } from './client-package.ts'

const { values } = parseArgs({
  options: { outdir: { type: 'string', default: resolve(import.meta.dir, '../../dist/client') } },
})
await buildClient(resolve(values.outdir))
process.stderr.write(`${resolve(values.outdir)}\n`)
