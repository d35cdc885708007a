import { garbageMeter } from '../../kernel/garbage.ts'
import type { Clock } from '../../kernel/time.ts'
import { GitError } from '../errors.ts'
import type { Call } from '../model.ts'
import { closable } from './closable.ts'
import { startDeadline } from './deadline.ts'
import { withSettings } from './environment.ts'
import { watchMemory } from './memory.ts'
import type { Slots } from './slots.ts'
import { unhurried } from './unhurried.ts'

/** What every command needs; built once by createGit. */
export interface Runner {
  readonly binary: string
  readonly root: string
  readonly environment: Record<string, string>
  readonly clock: Clock
  /** Short commands and transfers wait in different queues: eight slow clones must not stop the reading of a file. */
  readonly commands: Slots
  readonly transfers: Slots
  readonly timeouts: { commandMs: number; transferMs: number }
  readonly maxOutputBytes: number
  /** Of one command that reads what somebody pushed. */
  readonly maxMemoryBytes: number
}

export interface Command {
  /** Another program than git: a hook. */
  program?: string
  args: string[]
  /** The repository, as `--git-dir`. */
  folder?: string
  /** Whose share of the processes it takes; `folder` unless it says otherwise. */
  subject?: string
  /** The root of the store, unless it says otherwise. */
  cwd?: string
  stdin?: ReadableStream<Uint8Array> | Uint8Array | string | undefined
  settings?: readonly (readonly [string, string])[]
  environment?: Record<string, string>
  call?: Call | undefined
  isTransfer?: boolean
  /** Maintenance holds as much as a repository needs. */
  mayNeedMemory?: boolean
}

export interface Exit {
  exitCode: number
  stderr: string
  /** Why we ended the child, when we did. */
  stopped?: GitError
}

export interface Child {
  stdout: ReadableStream<Uint8Array>
  exited: Promise<Exit>
  /**
   * Ends the input first: a push that ends early is undone by git itself, while a signal can leave its quarantine. Then SIGTERM to
   * git and its children, so that they remove their locks; then SIGKILL.
   */
  stop(reason: GitError): void
}

const END_OF_INPUT_MS = 300
const GRACE_MS = 2000
const MAX_STDERR_BYTES = 16 * 1024

/** The one place that starts git. Waits for a slot; the child holds it until it is gone. */
export async function startGit(runner: Runner, command: Command): Promise<Child> {
  const slots = command.isTransfer ? runner.transfers : runner.commands
  const deadline = startDeadline(
    command.call,
    command.isTransfer ? runner.timeouts.transferMs : runner.timeouts.commandMs,
  )
  let release = () => {}
  try {
    release = await slots.acquire(deadline.signal, command.subject ?? command.folder)
    const ended = () => {
      deadline.clear()
      release()
    }
    return spawn(runner, command, { signal: deadline.signal, ended })
  } catch (error) {
    deadline.clear()
    release()
    throw error
  }
}

function spawn(runner: Runner, command: Command, life: { signal: AbortSignal; ended: () => void }): Child {
  const { folder, stdin, settings, environment, program = runner.binary, cwd = runner.root } = command
  const input = stdin instanceof ReadableStream ? closable(stdin) : undefined
  const child = Bun.spawn([program, ...(folder === undefined ? [] : [`--git-dir=${folder}`]), ...command.args], {
    cwd,
    env: { ...runner.environment, ...(settings && withSettings(settings)), ...environment },
    stdin: input?.stream ?? (stdin === undefined || stdin instanceof ReadableStream ? 'ignore' : Buffer.from(stdin)),
    stdout: 'pipe',
    stderr: 'pipe',
    // Its own process group: git's children are ended together with it, and Ctrl-C in a terminal reaches only the server.
    detached: true,
  })
  let stopped: GitError | undefined
  let killer: ReturnType<typeof setTimeout> | undefined
  const stop = (reason: GitError) => {
    if (stopped) return
    stopped = reason
    const terminate = () => {
      killGroup(child.pid, 'SIGTERM')
      killer = setTimeout(() => killGroup(child.pid, 'SIGKILL'), GRACE_MS)
    }
    if (input?.close(reason)) killer = setTimeout(terminate, END_OF_INPUT_MS)
    else terminate()
  }
  const tooMuch = () => stop(new GitError('too-large', 'limit', 'git would need too much memory for this'))
  // What talks with a client, and hooks, are no readers of what somebody pushed.
  const isWatched = !command.mayNeedMemory && input === undefined && command.program === undefined
  const unwatch = isWatched ? watchMemory(child.pid, runner.maxMemoryBytes, tooMuch) : undefined
  const abort = () => stop(asGitError(life.signal.reason))
  life.signal.addEventListener('abort', abort, { once: true })
  if (life.signal.aborted) abort()
  const finish = async (): Promise<Exit> => {
    const [exitCode, stderr] = await Promise.all([child.exited, tail(child.stderr)])
    clearTimeout(killer)
    unwatch?.()
    life.ended()
    return { exitCode, stderr, ...(stopped && { stopped }) }
  }
  return { stdout: child.stdout, exited: finish(), stop }
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
  let kept = Buffer.alloc(0)
  for await (const chunk of stream) kept = Buffer.concat([kept, chunk]).subarray(-MAX_STDERR_BYTES)
  return kept.toString()
}

export interface Output {
  stdout: Buffer
  stderr: string
  exitCode: number
}

/** Runs to the end and gives all output. Throws for an exit code that is not in `accepts` (0), and `too-large` past the limit. */
export async function runGit(runner: Runner, command: Command & { accepts?: readonly number[] }): Promise<Output> {
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
  const exit = await child.exited
  if (exit.stopped) throw exit.stopped
  if (!(command.accepts ?? [0]).includes(exit.exitCode)) throw failure(command.args, exit)
  return { stdout: Buffer.concat(chunks), stderr: exit.stderr, exitCode: exit.exitCode }
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
  const read = unhurried(reader)
  const passed = garbageMeter()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await read()
        if (!done) {
          passed(value.length)
          return controller.enqueue(value)
        }
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
