import { join } from 'node:path'
import type { Clock } from '../../../kernel/time.ts'
import { GitError } from '../../errors.ts'
import type { Call } from '../../model.ts'
import { answerLine } from './answer-line.ts'
import { closable } from './closable.ts'
import { startDeadline } from './deadline.ts'
import { withSettings } from './environment.ts'
import type { Limiter } from './limiter.ts'
import { watchMemory } from './memory.ts'

/** What every command needs; built once by createGit. */
export interface Runner {
  readonly binary: string
  readonly root: string
  readonly environment: Record<string, string>
  readonly clock: Clock
  readonly limiter: Limiter
  readonly timeouts: { commandMs: number; transferMs: number }
  readonly maxOutputBytes: number
  /** Of one command that may need much: it reserves as much, and is ended when it takes more. */
  readonly maxMemoryBytes: number
}

/**
 * Reserved for a command that looks a thing up, and for a transfer. Measured with a repository of 9,000 objects: a look-up takes up to
 * 12 MB, a clone 45 MB.
 */
const LITTLE_BYTES = { command: 32 * 1024 ** 2, transfer: 64 * 1024 ** 2 }
const SOME_BYTES = 256 * 1024 ** 2

function memoryOf({ maxMemoryBytes }: Runner, { memory, isTransfer }: Command): number {
  if (memory === 'much') return maxMemoryBytes
  return memory === 'some' ? Math.min(SOME_BYTES, maxMemoryBytes) : LITTLE_BYTES[isTransfer ? 'transfer' : 'command']
}

export interface Command {
  /** Another program than git: a hook. */
  program?: string
  args: string[]
  /** The repository, as `--git-dir`. */
  folder?: string
  /** Whose share of the processes it takes; `folder` unless it says otherwise. */
  subject?: string
  /** Folder of another repository, whose objects can be named too. */
  beside?: string | undefined
  /** The root of the store, unless it says otherwise. */
  cwd?: string
  stdin?: ReadableStream<Uint8Array> | Uint8Array | string | undefined
  settings?: readonly (readonly [string, string])[]
  environment?: Record<string, string>
  call?: Call | undefined
  isTransfer?: boolean
  /** It takes in what a stranger sends: none of its processes has more memory for itself than one command may have, it fails. */
  takesIn?: {
    /** No file that it writes grows larger: it fails. */
    maxFileBytes?: number
  }
  /**
   * Left out, it looks a thing up. `some` and `much` walk what somebody pushed, and are ended where they take more than they reserved.
   * `any`: maintenance takes what a repository needs.
   */
  memory?: 'some' | 'much' | 'any'
  /** Answers one line that a hook asks over its descriptor 3. Never rejects. */
  answer?: ((line: string) => Promise<string>) | undefined
  /** Done for a command that waits for it: it takes neither a place nor memory of its own, or both might wait for each other. */
  isWithinAnother?: boolean
}

export interface Exit {
  exitCode: number
  stderr: string
  /** Why we ended the child, when we did. */
  stopped?: GitError
}

/** A process whose output goes somewhere else. */
export interface Running {
  exited: Promise<Exit>
  /**
   * Ends the input first: a push that ends early is undone by git itself, while a signal can leave its quarantine. Then SIGTERM to
   * git and its children, so that they remove their locks; then SIGKILL.
   */
  stop(reason: GitError): void
}

export interface Child extends Running {
  stdout: ReadableStream<Uint8Array>
}

const END_OF_INPUT_MS = 300
const GRACE_MS = 2000
const MAX_STDERR_BYTES = 16 * 1024

/** Starts git. Waits for a place and for memory; the child holds them until it is gone. */
export async function startGit(runner: Runner, command: Command): Promise<Child> {
  const { child, ...running } = await start(runner, command, 'pipe')
  if (!(child.stdout instanceof ReadableStream)) throw new Error('a pipe was asked for')
  return { ...running, stdout: child.stdout }
}

/** The same with an open file as standard output. */
export async function startGitInto(runner: Runner, command: Command, stdout: number): Promise<Running> {
  const { exited, stop } = await start(runner, command, stdout)
  return { exited, stop }
}

async function start(runner: Runner, command: Command, stdout: 'pipe' | number) {
  const { call, isTransfer = false, subject = command.folder } = command
  const kind = isTransfer ? 'transfer' : 'command'
  const deadline = startDeadline(call, isTransfer ? runner.timeouts.transferMs : runner.timeouts.commandMs)
  const memoryBytes = memoryOf(runner, command)
  let release = () => {}
  try {
    const claim = { kind, memoryBytes, subject, client: call?.client } as const
    if (!command.isWithinAnother) release = await runner.limiter.acquire(deadline.signal, claim)
    const ended = () => {
      deadline.clear()
      release()
    }
    return spawn(runner, { ...command, stdout }, { signal: deadline.signal, ended })
  } catch (error) {
    deadline.clear()
    release()
    throw error
  }
}

function spawn(
  runner: Runner,
  command: Command & { stdout: 'pipe' | number },
  life: { signal: AbortSignal; ended: () => void },
) {
  const { folder, beside, stdin, stdout, settings, environment, program = runner.binary, cwd = runner.root } = command
  const input = stdin instanceof ReadableStream ? closable(stdin) : undefined
  const words = [program, ...(folder === undefined ? [] : [`--git-dir=${folder}`]), ...command.args]
  const child = Bun.spawn([...limitsOf(runner, command), ...words], {
    cwd,
    env: {
      ...runner.environment,
      ...(beside !== undefined && { GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(beside, 'objects')) }),
      ...(settings && withSettings(settings)),
      ...environment,
    },
    stdio: [
      input?.stream ?? (stdin === undefined || stdin instanceof ReadableStream ? 'ignore' : Buffer.from(stdin)),
      stdout,
      'pipe',
      ...(command.answer ? (['socket-fd'] as const) : []),
    ],
    // Its own process group: git's children are ended together with it, and Ctrl-C in a terminal reaches only the server.
    detached: true,
  })
  if (command.answer) answerLine(child.stdio[3], command.answer)
  const { stop, stopped, clear } = stopper(child.pid, input?.close)
  const tooMuch = () => stop(new GitError('too-large', 'limit', 'git would need too much memory for this'))
  // Pushes and hooks are no readers of what somebody pushed.
  const isWatched = command.memory !== 'any' && input === undefined && command.program === undefined
  const maxBytes = command.memory === 'some' ? memoryOf(runner, command) : runner.maxMemoryBytes
  const unwatch = isWatched ? watchMemory(child.pid, maxBytes, tooMuch) : undefined
  const abort = () => stop(asGitError(life.signal.reason))
  life.signal.addEventListener('abort', abort, { once: true })
  if (life.signal.aborted) abort()
  const finish = async (): Promise<Exit> => {
    const [exitCode, stderr] = await Promise.all([child.exited, tail(child.stderr)])
    clear()
    unwatch?.()
    life.ended()
    const reason = stopped()
    return { exitCode, stderr, ...(reason && { stopped: reason }) }
  }
  return { child, exited: finish(), stop }
}

/**
 * A shell that limits itself and becomes what stands behind. POSIX counts files in blocks of 512 bytes, and memory in KiB. With the signal
 * ignored a write fails, and git says so; killed by it, git would say nothing. Watching the memory would come too late for a delta that
 * says "this, ten thousand times". The limit is a soft one: hooks, which are no stranger's, lift it (refs/hooks.ts).
 */
function limitsOf({ maxMemoryBytes }: Runner, { takesIn }: Command): string[] {
  if (!takesIn) return []
  const { maxFileBytes } = takesIn
  const ofFiles = maxFileBytes === undefined ? '' : `trap "" XFSZ; ulimit -f ${Math.ceil(maxFileBytes / 512)} && `
  return ['/bin/sh', '-c', `${ofFiles}ulimit -S -d ${Math.ceil(maxMemoryBytes / 1024)} && exec "$@"`, 'sh']
}

/** For `takesIn`: what index-pack needs however little comes must fit into the memory of one command. */
export const frugalSettings = ({ maxMemoryBytes }: Runner): readonly (readonly [string, string])[] => [
  // Each thread has a stack, which counts as memory, and a cache.
  ['pack.threads', '2'],
  ['core.deltaBaseCacheLimit', String(Math.ceil(maxMemoryBytes / 16))],
]

/** Ends a process group once, as `Running.stop` says. */
function stopper(pid: number, closeInput: ((reason: GitError) => boolean) | undefined) {
  let stopped: GitError | undefined
  let killer: ReturnType<typeof setTimeout> | undefined
  const terminate = () => {
    killGroup(pid, 'SIGTERM')
    killer = setTimeout(() => killGroup(pid, 'SIGKILL'), GRACE_MS)
  }
  return {
    stop(reason: GitError) {
      if (stopped) return
      stopped = reason
      if (closeInput?.(reason)) killer = setTimeout(terminate, END_OF_INPUT_MS)
      else terminate()
    },
    stopped: () => stopped,
    clear: () => clearTimeout(killer),
  }
}

function killGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // The group is gone already: that is what was wanted.
  }
}

const asGitError = (reason: unknown): GitError =>
  reason instanceof GitError ? reason : new GitError('aborted', 'aborted', 'the caller went away')

/** The last of what git says; the rest is read too, so that the child never blocks on it. */
async function tail(stream: ReadableStream<Uint8Array>): Promise<string> {
  let last = Buffer.alloc(0)
  for await (const chunk of stream) last = Buffer.concat([last, chunk]).subarray(-MAX_STDERR_BYTES)
  return last.toString()
}

export interface Output {
  stdout: Buffer
  stderr: string
  exitCode: number
}

/** Runs to the end and gives all output. Throws for an exit code that is not in `accepts` (0), and `too-large` past the limit. */
export async function runGit(runner: Runner, command: Command & { accepts?: readonly number[] }): Promise<Output> {
  const { stdout, exit } = await gather(runner, command)
  if (exit.stopped) throw exit.stopped
  if (!(command.accepts ?? [0]).includes(exit.exitCode)) throw failure(command.args, exit)
  return { stdout, stderr: exit.stderr, exitCode: exit.exitCode }
}

/** The same, however git ends. */
export async function gather(runner: Runner, command: Command): Promise<{ stdout: Buffer; exit: Exit }> {
  const child = await startGit(runner, command)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of child.stdout) {
    size += chunk.length
    if (size > runner.maxOutputBytes) {
      child.stop(new GitError('too-large', 'limit', `git printed more than ${runner.maxOutputBytes} bytes`))
      break
    }
    chunks.push(chunk)
  }
  return { stdout: Buffer.concat(chunks), exit: await child.exited }
}

/**
 * The output as it comes. It fails where git does, and ends the child when it is cancelled. Chunks are asked for one by one, so a
 * slow reader stops git at a full pipe.
 */
export async function streamGit(runner: Runner, command: Command): Promise<ReadableStream<Uint8Array>> {
  const child = await startGit(runner, command)
  return guardStream(child, (exit) => (exit.exitCode === 0 ? undefined : failure(command.args, exit)))
}

/** `judge` says whether an exit is an error for the reader of the stream. */
export function guardStream(child: Child, judge: (exit: Exit) => GitError | undefined): ReadableStream<Uint8Array> {
  const reader = child.stdout.getReader()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        const exit = await child.exited
        const error = exit.stopped ?? judge(exit)
        if (error) controller.error(error)
        else controller.close()
      },
      async cancel() {
        child.stop(new GitError('aborted', 'aborted', 'the reader went away'))
        await reader.cancel()
        await child.exited
      },
    },
    { highWaterMark: 0 },
  )
}

export function failure(args: string[], exit: Exit): GitError {
  const details = { stderr: exit.stderr.trim() }
  if (/not a git repository/.test(exit.stderr))
    return new GitError('not-found', 'repository', 'no such repository', details)
  return new GitError('failed', 'program', `git ${args[0] ?? ''} ended with ${exit.exitCode}`, details)
}
