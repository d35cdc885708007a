// `bun run start [words]`: compiles the program once after each change, and becomes it. From its sources a start takes more than
// twice as long, most of it to load some two thousand modules.
import { resolve } from 'node:path'
import { become } from './become.ts'
import { compiledProgram } from './compiled-program.ts'

const words = process.argv.slice(2)
const program = compiledProgram()
if (program === undefined) become(process.execPath, resolve(import.meta.dir, '../main.ts'), ...words)
else become(program, ...words)
