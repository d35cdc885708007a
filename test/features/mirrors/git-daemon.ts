import { createServer } from 'node:net'
import { listen } from '../../harness/listen.ts'

/** `git daemon` on the repositories of a folder. */
export interface GitDaemon {
  port: number
  /** What it has logged of connections and requests. */
  log: string[]
  stop(): Promise<void>
}

export async function startGitDaemon(root: string): Promise<GitDaemon> {
  const port = await freePort()
  const words = ['--verbose', '--log-destination=stderr', '--export-all', '--reuseaddr', '--listen=127.0.0.1']
  const child = Bun.spawn(['git', 'daemon', ...words, `--port=${port}`, `--base-path=${root}`, root], {
    env: { PATH: process.env.PATH ?? '', HOME: root, GIT_CONFIG_NOSYSTEM: '1' },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
    detached: true,
  })
  const log: string[] = []
  const ready = Promise.withResolvers<void>()
  const ended = follow(child.stderr, (line) => {
    log.push(line)
    if (line.includes('Ready to rumble')) ready.resolve()
  })
  await Promise.race([
    ready.promise,
    ended.then(() => Promise.reject(new Error(`git daemon ended: ${log.join('\n')}`))),
  ])
  return {
    port,
    log,
    async stop() {
      // Those too that serve somebody.
      process.kill(-child.pid, 'SIGKILL')
      await child.exited
    },
  }
}

/** It cannot be told to take a free one and say which. */
async function freePort(): Promise<number> {
  const server = createServer()
  const port = await listen(server)
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function follow(stream: ReadableStream<Uint8Array>, tell: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) tell(line)
  }
}
