// `bun run start [words]`: compiles the program once after each change, and becomes it. From its sources a start takes more than
// twice as long, most of it to load some two thousand modules.
import { resolve } from 'node:path'
import { errorCode, messageOf } from '../kernel/thrown.ts'
import { become } from './become.ts'
import { compiledProgram, discard } from './compiled-program.ts'
import { writeFault } from './write-fault.ts'

const root = resolve(import.meta.dir, '../..')
const words = process.argv.slice(2)
let program: string | undefined
try {
  program = compiledProgram()
  become(program, ...words)
} catch (error) {
  process.stderr.write(`${writeFault(root) ?? messageOf(error)}\nIt starts from its sources, more slowly.\n`)
  // What is there is no program. The next start makes it anew.
  if (program !== undefined && errorCode(error) === 'ENOEXEC') discard(program)
}
become(process.execPath, resolve(import.meta.dir, '../main.ts'), ...words)
