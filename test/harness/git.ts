import { mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'

export interface GitRun {
  exitCode: number
  stdout: string
  stderr: string
}

export interface GitOptions {
  /** Where to run; the harness's own folder without it. */
  cwd?: string
  env?: Record<string, string>
  input?: string | Blob
}

/** The real git client, with a home of its own: nothing of the user's configuration or credentials is read. */
export interface GitClient {
  /** A folder for clones, removed with the service. */
  folder: string
  /** Runs and tells how it ended. */
  run(args: string[], options?: GitOptions): Promise<GitRun>
  /** Runs, fails unless git ends well, and returns its output without the last line break. */
  (args: string[], options?: GitOptions): Promise<string>
}

export function createGitClient(volume: string): GitClient {
  const folder = mkdtempSync(join(volume, 'work-'))
  const home = mkdtempSync(join(volume, 'home-'))
  mkdirSync(join(home, 'empty'))
  const environment = {
    PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
    HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TEMPLATE_DIR: join(home, 'empty'),
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: 'Test',
    GIT_AUTHOR_EMAIL: 'test@localhost.localdomain',
    GIT_COMMITTER_NAME: 'Test',
    GIT_COMMITTER_EMAIL: 'test@localhost.localdomain',
    LC_ALL: 'C',
  }
  const run = async (args: string[], { cwd = folder, env = {}, input }: GitOptions = {}): Promise<GitRun> => {
    // Not spawnSync: the server that git talks to lives in this very process.
    const child = Bun.spawn(['git', '-c', 'init.defaultBranch=main', ...args], {
      cwd,
      env: { ...environment, ...env },
      stdin: input === undefined ? 'ignore' : input instanceof Blob ? input : new Blob([input]),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    return { exitCode: await child.exited, stdout, stderr }
  }
  const orFail = async (args: string[], options?: GitOptions): Promise<string> => {
    const { exitCode, stdout, stderr } = await run(args, options)
    if (exitCode !== 0) throw new Error(`git ${args.join(' ')} ended with ${exitCode}: ${stderr}`)
    return stdout.replace(/\n$/, '')
  }
  return Object.assign(orFail, { folder, run })
}
