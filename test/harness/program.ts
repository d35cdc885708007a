import { resolve } from 'node:path'
import { compiledProgram } from '../../src/setup/compiled-program.ts'

export interface Run {
  exitCode: number
  stdout: string
  stderr: string
}

/** How the program is started: as people run it. From its sources a start takes five times the work. */
const asShipped = (): readonly string[] => [compiledProgram()]

/** The other way, where that is what a test is about. */
export const fromSources: readonly string[] = [process.execPath, resolve(import.meta.dir, '../../src/main.ts')]

const environment = (settings: Record<string, string>) => ({
  PATH: process.env.PATH ?? '',
  LOG_FORMAT: 'json',
  ...settings,
})

/** Runs one command line to its end. */
export async function runProgram(
  words: readonly string[],
  settings: Record<string, string> = {},
  { program = asShipped(), input = '', cwd = '/' }: { program?: readonly string[]; input?: string; cwd?: string } = {},
): Promise<Run> {
  const child = Bun.spawn([...program, ...words], {
    cwd,
    env: environment(settings),
    stdin: new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { exitCode: await child.exited, stdout, stderr }
}

/** Runs one command line at a terminal, where somebody types when they are asked. @returns all that the terminal has shown */
export async function atTerminal(
  words: readonly string[],
  settings: Record<string, string>,
  { after, keys }: { after: string; keys: string },
): Promise<{ exitCode: number; shown: string }> {
  let shown = ''
  let isAsked = false
  const child = Bun.spawn([...asShipped(), ...words], {
    cwd: '/',
    env: environment(settings),
    terminal: {
      cols: 200,
      rows: 50,
      data(terminal, data) {
        shown += new TextDecoder().decode(data)
        if (isAsked || !shown.includes(after)) return
        isAsked = true
        terminal.write(keys)
      },
    },
  })
  const exitCode = await child.exited
  child.terminal?.close()
  return { exitCode, shown }
}

export interface RunningProgram {
  url: string
  pid: number
  /** What it said on standard output while it started, and a little more. */
  output(): string
  /** The same of standard error. */
  errors(): string
  kill(signal: NodeJS.Signals): void
  exited: Promise<number>
}

const MAX_SAID = 65_536

/** Starts the server and returns when it says that it listens. */
export async function serveProgram(
  settings: Record<string, string>,
  { program = asShipped(), cwd = '/' }: { program?: readonly string[]; cwd?: string } = {},
): Promise<RunningProgram> {
  const child = Bun.spawn([...program], {
    cwd,
    env: environment({ PORT: '0', ...settings }),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let said = ''
  let complaints = ''
  void (async () => {
    for await (const chunk of child.stderr) {
      process.stderr.write(chunk)
      if (complaints.length <= MAX_SAID) complaints += new TextDecoder().decode(chunk)
    }
  })()
  const { promise: listening, resolve: found, reject } = Promise.withResolvers<string>()
  void (async () => {
    for await (const chunk of child.stdout) {
      // The rest is read and dropped: a full pipe would stop the server.
      if (said.length > MAX_SAID) continue
      said += new TextDecoder().decode(chunk)
      const url = /"url":"([^"]+)"[^\n]*"msg":"listening"/.exec(said)?.[1]
      if (url !== undefined) found(url)
    }
    reject(new Error(`the program ended: ${said}`))
  })()
  return {
    url: await listening,
    pid: child.pid,
    output: () => said,
    errors: () => complaints,
    kill: (signal) => child.kill(signal),
    exited: child.exited,
  }
}
