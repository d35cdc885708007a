import {
  closeSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { systemClock } from '../kernel/time.ts'
import { THREAD_PROGRAMS } from '../threads/programs.ts'

const root = resolve(import.meta.dir, '../..')

/** The main program and those of threads, which start by their places below src. */
const PROGRAMS = ['src/main.ts', ...THREAD_PROGRAMS.map((place) => `src/${place}`)]

const FLAGS = [
  // Not minified: libraries recognize errors by the names of their classes.
  '--compile',
  // Stack traces name the sources. The map is inside; the copies beside the program are left out below.
  '--sourcemap',
  // Parsed here and not at each start: that takes 0.1 s instead of 0.3 (0.5 from the sources), and 20 MiB less memory.
  '--bytecode',
  '--format=esm',
  // What the programs have in common is inside once: 30 MB, and 20 MiB of memory.
  '--splitting',
  // Otherwise such a file in the folder where the program is started could choose code to run.
  '--no-compile-autoload-bunfig',
  // ssh2 looks for a native part that is not built here, and goes on without it.
  '--external=cpu-features',
]

export interface Compilation {
  exitCode: number
  /** What the compiler said. */
  log: string
}

/** One executable with migrations, templates and static files inside. It appears whole or not at all. */
export function compile(outfile: string, target?: string): Compilation {
  removeLeftovers()
  mkdirSync(dirname(outfile), { recursive: true })
  const draft = mkdtempSync(`${outfile}.new-`)
  try {
    const program = join(draft, 'hearth')
    const flags = target === undefined ? FLAGS : [...FLAGS, `--target=${target}`]
    const words = ['build', ...flags, `--outfile=${program}`, ...PROGRAMS]
    const { exitCode, signalCode, stdout, stderr } = Bun.spawnSync([process.execPath, ...words], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    if (exitCode === 0) {
      flush(program)
      renameSync(program, outfile)
    }
    const end = signalCode === undefined ? '' : `the compiler was ended by ${signalCode}\n`
    // Who is ended by a signal has no status.
    return { exitCode: exitCode ?? 1, log: `${stdout}${stderr}${end}` }
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

const LEFTOVER = /^\.[0-9a-f]{16}-[0-9a-f]{8}\.bun-build$/
const LEFT_AFTER_MS = 600_000

/** Bun makes the program, of 100 MB, under a name of its own where it runs, and leaves it there when it is killed. */
function removeLeftovers(): void {
  const latest = systemClock.now().getTime() - LEFT_AFTER_MS
  for (const name of readdirSync(root).filter((one) => LEFTOVER.test(one))) {
    const path = join(root, name)
    const left = statSync(path, { throwIfNoEntry: false })
    if (left && left.mtimeMs < latest) rmSync(path, { force: true })
  }
}

/** Flushed to the disk, or a power loss could leave a part of a program under its final name. */
function flush(path: string): void {
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}
