import { randomUUID } from 'node:crypto'
import type { UserRow } from '../../db/schema/users.ts'
import type { Actor } from '../auth/actor.ts'
import { requireUsableAccount } from '../auth/authenticate.ts'
import type { Context } from '../context.ts'
import { drainBody, limited } from '../features/transport/body.ts'
import { takePush } from '../features/transport/push.ts'
import { GitError } from '../git/errors.ts'
import { refusalOfFault, withoutParameters } from '../http/faults.ts'
import { codeForPush, codeForReading, refusalOf } from '../http/git-gate.ts'
import { forbidden, unavailable } from '../kernel/errors.ts'
import { type GitCommand, readCommand } from './command.ts'
import type { Line } from './line.ts'
import type { Tally } from './tally.ts'

/** Who asks, and how they are answered. */
export interface Caller {
  line: Line
  address: string | undefined
  /** Reads key and account anew. @throws Refusal 403 when the key is none any more */
  holder(): Promise<{ title: string; owner: UserRow }>
  /** Commands of each account that run now. */
  commands: Tally
}

export interface Call extends Caller {
  /** As the client wrote it. */
  text: string
  /** GIT_PROTOCOL, if it was given in a known form. */
  protocol: string | undefined
}

/** Git says something every five seconds, so a longer silence is a client that has gone, or one that holds up the others. */
const SILENCE_SECONDS = 600

/** Runs a command to its end and tells the client of its fate. Never throws. */
export async function serveCommand(context: Context, call: Call): Promise<void> {
  const { line, text } = call
  const startedAt = performance.now()
  const { exitCode, user } = await run(context, call)
  line.close()
  const ms = Math.round((performance.now() - startedAt) * 10) / 10
  context.log.info({ command: text.slice(0, 300), user, address: call.address, exitCode, ms }, 'ssh')
}

/** There is no shell. Wire: `ssh -T` is how people try their key, and the family's words are what programs look for. */
export async function welcome(context: Context, { line, holder }: Caller): Promise<void> {
  try {
    const { title, owner } = await holder()
    requireUsableAccount(context, owner)
    const key = title.replace(/\p{Cc}+/gu, ' ')
    line.say(
      `Hi there, ${owner.name}! You've successfully authenticated with the key named ${key}, but Hearth does not provide shell access.`,
    )
    line.finish(0)
  } catch (error) {
    line.say(`Hearth: ${wordsFor(context, error)}`)
    line.finish(1)
  }
  line.close()
}

async function run(context: Context, call: Call): Promise<{ exitCode: number; user?: string }> {
  const { line, text } = call
  let user: string | undefined
  let ended: (() => void) | undefined
  try {
    const command = readCommand(text)
    if (!command) throw forbidden('only git clone, fetch and push are served here')
    const { owner } = await call.holder()
    user = owner.name
    requireUsableAccount(context, owner)
    ended = call.commands.take(String(owner.id))
    if (!ended) throw unavailable('too many Git operations of this account at once, try again')
    const origin = { address: call.address, route: `ssh ${text.slice(0, 300)}`, requestId: randomUUID() }
    const actor: Actor = { user: owner, method: 'key', publicOnly: false, origin }
    line.allowSilence(SILENCE_SECONDS)
    const serve = command.service === 'upload-pack' ? fetchPack : push
    const exitCode = await serve(context, actor, { ...call, command })
    return { exitCode, user }
  } catch (error) {
    if (!line.signal.aborted) {
      line.say(`Hearth: ${wordsFor(context, error)}`)
      line.finish(1)
    }
    return { exitCode: 1, user }
  } finally {
    ended?.()
  }
}

function wordsFor(context: Context, error: unknown): string {
  const refusal = error instanceof GitError ? refusalOf(context, error) : refusalOfFault(error)
  if (refusal) return refusal.message
  context.log.error({ err: withoutParameters(error) }, 'a command over SSH failed')
  return 'an error of the server; its administrator finds the reason in the log'
}

interface Served extends Call {
  command: GitCommand
}

async function fetchPack(context: Context, actor: Actor, { command, line, protocol }: Served): Promise<number> {
  const { repo } = await codeForReading(context, actor, command)
  const { input: body, signal } = line
  const served = await context.git.converse(repo.repository.id, { body, protocol, signal })
  await sendAll(line, served.stream)
  const { exitCode } = await served.done
  line.finish(exitCode)
  return exitCode
}

/** The greeting, then what follows from the client is one request as over HTTP: no process waits while its hooks run. */
async function push(context: Context, actor: Actor, { command, line, protocol }: Served): Promise<number> {
  const { config } = context
  const access = await codeForPush(context, actor, command)
  const { signal } = line
  const greeting = { protocol, isBare: true }
  await sendAll(
    line,
    (await context.git.advertise(access.repo.repository.id, 'receive-pack', greeting, { signal })).stream,
  )
  line.allowSilence(config.gitTimeoutSeconds)
  const maxBytes = config.maxPushBytes
  const outcome = await takePush(context, {
    access,
    body: limited(line.input, { maxBytes }),
    protocol,
    maxBytes,
    signal,
  })
  line.allowSilence(SILENCE_SECONDS)
  if ('answer' in outcome) {
    await sendAll(line, outcome.answer)
    line.finish(0)
    return 0
  }
  if (outcome.report.length > 0) await line.send(outcome.report)
  line.finish(0)
  // A client that still sends its pack would not read the report. It hangs up when it has.
  await drainBody(outcome.rest).catch(() => undefined)
  return 0
}

async function sendAll(line: Line, stream: ReadableStream<Uint8Array>): Promise<void> {
  for await (const chunk of stream) await line.send(chunk)
}
