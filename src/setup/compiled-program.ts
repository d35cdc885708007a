import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { errorCode } from '../kernel/thrown.ts'
import { packagedPrograms } from '../postgres/packages.ts'
import { compile } from './compile.ts'
import { LOCKED } from './dependencies.ts'
import { fingerprint } from './fingerprint.ts'

const root = resolve(import.meta.dir, '../..')
const home = `${root}/node_modules/.hearth`

/** What the program is made of. */
const SOURCES = [...LOCKED, 'tsconfig.json', 'src', 'db'] as const

/**
 * The program compiled from the sources as they are now.
 * @throws where it cannot be compiled, such as in a checkout that this user may not write to
 */
export function compiledProgram(): string {
  const folder = join(home, fingerprint(root, SOURCES).slice(0, 16))
  const program = join(folder, 'bin', 'hearth')
  if (existsSync(program)) return program
  process.stderr.write('Compiling the program (once after each change) ...\n')
  compileInto(folder)
  removeOthers(folder)
  return program
}

/** Of a program that cannot be run, so that the next start makes it anew. */
export const discard = (program: string): void => rmSync(resolve(program, '../..'), { recursive: true, force: true })

/** Under another name and renamed, so that it is there whole or not at all, and two processes may do it at once. */
function compileInto(folder: string): void {
  mkdirSync(home, { recursive: true })
  const draft = `${folder}.new-${process.pid}`
  try {
    const { exitCode, log } = compile(join(draft, 'bin', 'hearth'))
    if (exitCode !== 0) throw new Error(log)
    const postgres = packagedPrograms(root)
    // Where the image has them, and the program looks (src/postgres/programs.ts).
    mkdirSync(join(draft, 'lib', 'hearth'), { recursive: true })
    if (postgres !== undefined) symlinkSync(postgres, join(draft, 'lib', 'hearth', 'postgresql'))
    renameSync(draft, folder)
  } catch (error) {
    if (!existsSync(folder)) throw error
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** Programs of earlier sources, and what processes left that were killed at their work. One that runs is not harmed. */
function removeOthers(folder: string): void {
  const others = readdirSync(home).map((name) => join(home, name))
  for (const other of others.filter((path) => path !== folder && !isBeingMade(path)))
    rmSync(other, { recursive: true, force: true })
}

function isBeingMade(path: string): boolean {
  const maker = /\.new-(\d+)$/.exec(path)?.[1]
  if (maker === undefined) return false
  try {
    return process.kill(Number(maker), 0)
  } catch (error) {
    // Somebody else's process.
    return errorCode(error) === 'EPERM'
  }
}
