import { randomUUID } from 'node:crypto'
import type { Actor } from '../auth/actor.ts'
import { requireUsableAccount } from '../auth/authenticate.ts'
import type { Context } from '../context.ts'
import { openByDeployKey } from '../features/deploy-keys/sign-in.ts'
import { authenticateLfs } from '../features/lfs/authenticate.ts'
import type { KeyHolder } from '../features/public-keys/sign-in.ts'
import { drainBody, limited } from '../features/transport/body.ts'
import { folderToFetch, folderToPush } from '../features/transport/folder.ts'
import { takePush } from '../features/transport/push.ts'
import { GitError } from '../git/errors.ts'
import { refusalOfFailure, withoutParameters } from '../http/database-errors.ts'
import { accessForFetch, accessForPush, clientOf, refusalOf } from '../http/git-gate.ts'
import { forbidden, unavailable } from '../kernel/errors.ts'
import { type GitCommand, type LfsCommand, readCommand } from './command.ts'
import type { CommandChannel } from './command-channel.ts'
import type { LimitedCount } from './limited-count.ts'

/** Who asks, and how they are answered. */
export interface Caller {
  channel: CommandChannel
  address: string | undefined
  /** Reads key and account anew. @throws Refusal 403 when the key is none any more */
  holder(): Promise<KeyHolder>
  /** Commands of each account, or key of repositories, that run now. */
  commands: LimitedCount
}

export interface Call extends Caller {
  /** As the client wrote it. */
  text: string
  /** GIT_PROTOCOL, if it was given in a known form. */
  protocol: string | undefined
}

/** While a client waits for its turn, for hooks, and for what Git prepares. */
const SILENCE_SECONDS = 600

/** Runs a command to its end and reports the outcome to the client. Never throws. */
export async function serveCommand(context: Context, call: Call): Promise<void> {
  const { channel, text } = call
  const startedAt = performance.now()
  const { exitCode, user } = await run(context, call)
  channel.close()
  const ms = Math.round((performance.now() - startedAt) * 10) / 10
  context.log.info({ command: text.slice(0, 300), user, address: call.address, exitCode, ms }, 'ssh')
}

/** There is no shell. Wire: people try their key by `ssh -T`, and programs look for Gitea's words. */
export async function welcome(context: Context, { channel, holder }: Caller): Promise<void> {
  try {
    const { key, owner } = await holder()
    if (owner) requireUsableAccount(context, owner)
    const name = key.title.replace(/\p{Cc}+/gu, ' ')
    const greeting = owner
      ? `Hi there, ${owner.name}! You've successfully authenticated with the key named ${name}`
      : "Hi there! You've successfully authenticated with a deploy key"
    channel.say(`${greeting}, but Hearth does not provide shell access.`)
    channel.finish(0)
  } catch (error) {
    channel.say(`Hearth: ${wordsFor(context, error)}`)
    channel.finish(1)
  }
  channel.close()
}

async function run(context: Context, call: Call): Promise<{ exitCode: number; user?: string }> {
  const { channel, text } = call
  let user: string | undefined
  let ended: (() => void) | undefined
  try {
    const command = readCommand(text)
    if (!command || (command.service === 'lfs-authenticate' && !context.config.lfsEnabled))
      throw forbidden('only git clone, fetch, push and archive are served here')
    const holder = await call.holder()
    const { isReadOnly, ...who } = await identify(context, holder, command)
    user = who.user.name
    if (isReadOnly && changes(command)) throw forbidden('this key is read-only and cannot push')
    ended = call.commands.take(countedAs(holder))
    if (!ended) throw unavailable('too many Git operations of this account at once, try again')
    const origin = { address: call.address, route: `ssh ${text.slice(0, 300)}`, requestId: randomUUID() }
    const actor: Actor = { ...who, method: 'key', publicOnly: false, origin }
    channel.allowSilence(SILENCE_SECONDS)
    const exitCode = await serve(context, actor, { call, command, keyId: holder.key.id })
    return { exitCode, user }
  } catch (error) {
    if (!channel.signal.aborted) {
      channel.say(`Hearth: ${wordsFor(context, error)}`)
      channel.finish(1)
    }
    return { exitCode: 1, user }
  } finally {
    ended?.()
  }
}

const changes = (command: GitCommand | LfsCommand): boolean =>
  command.service === 'receive-pack' || (command.service === 'lfs-authenticate' && command.operation === 'upload')

interface Asked {
  call: Call
  command: GitCommand | LfsCommand
  keyId: number
}

function serve(context: Context, actor: Actor, { call, command, keyId }: Asked): Promise<number> {
  if (command.service === 'lfs-authenticate') return authenticate(context, actor, { call, command, keyId })
  const work = command.service === 'receive-pack' ? push : read
  return work(context, actor, { ...call, command })
}

/** What limits count by. */
export const countedAs = ({ key, owner }: KeyHolder): string => (owner ? String(owner.id) : `key ${key.id}`)

/** Who a key stands for. One that opens repositories reads and pushes in the name of the owner of the one that is asked for. */
async function identify(
  context: Context,
  { key, owner }: KeyHolder,
  command: GitCommand | LfsCommand,
): Promise<Pick<Actor, 'user' | 'repositoryIds' | 'isDeployKey'> & { isReadOnly: boolean }> {
  if (owner) {
    requireUsableAccount(context, owner)
    return { user: owner, isReadOnly: key.isReadOnly }
  }
  const opened = await openByDeployKey(context, key.id, command)
  if (opened.owner.kind === 'user') requireUsableAccount(context, opened.owner)
  return {
    user: opened.owner,
    repositoryIds: [opened.repositoryId],
    isDeployKey: true,
    isReadOnly: opened.isReadOnly,
  }
}

function wordsFor(context: Context, error: unknown): string {
  const refusal = error instanceof GitError ? refusalOf(context, error) : refusalOfFailure(error)
  if (refusal) return refusal.message
  context.log.error({ err: withoutParameters(error) }, 'a command over SSH failed')
  return 'an error of the server; its administrator finds the reason in the log'
}

interface Served extends Call {
  command: GitCommand
}

/** git-lfs reads one line of JSON, and goes on over HTTP. */
async function authenticate(
  context: Context,
  actor: Actor,
  { call: { channel }, command, keyId }: Asked & { command: LfsCommand },
): Promise<number> {
  const answer = await authenticateLfs(context, { actor, subject: command, operation: command.operation, keyId })
  await channel.send(Buffer.from(`${JSON.stringify(answer)}\n`))
  channel.finish(0)
  return 0
}

/** A clone, a fetch, or an archive. */
async function read(context: Context, actor: Actor, { command, channel, protocol }: Served): Promise<number> {
  const access = await accessForFetch(context, actor, command)
  const { input: body, signal } = channel
  const id = await folderToFetch(context, access)
  const request = { body, protocol, signal, client: clientOf(actor, undefined) }
  const isArchive = command.service === 'upload-archive'
  const served = await (isArchive ? context.git.serveRemoteArchive(id, request) : context.git.converse(id, request))
  // A pack that is being prepared says so every five seconds: a longer silence is a client that keeps its place in vain.
  if (!isArchive) channel.allowSilence(context.config.requestTimeoutSeconds)
  await sendAll(channel, served.stream)
  const { exitCode } = await served.done
  channel.finish(exitCode)
  return exitCode
}

/** The greeting, then what follows from the client is one request as over HTTP: no process waits while its hooks run. */
async function push(context: Context, actor: Actor, { command, channel, protocol }: Served): Promise<number> {
  const { config } = context
  const access = await accessForPush(context, actor, command)
  const { signal } = channel
  const greeting = { protocol, isBare: true }
  await sendAll(
    channel,
    (
      await context.git.advertise(await folderToPush(context, access), 'receive-pack', greeting, {
        signal,
        client: clientOf(actor, undefined),
      })
    ).stream,
  )
  channel.allowSilence(config.gitTimeoutSeconds)
  const maxBytes = config.maxPushBytes
  const outcome = await takePush(context, {
    access,
    body: limited(channel.input, maxBytes).stream,
    protocol,
    maxBytes,
    signal,
  })
  channel.allowSilence(SILENCE_SECONDS)
  if ('answer' in outcome) {
    await sendAll(channel, outcome.answer)
    channel.finish(0)
    return 0
  }
  if (outcome.report.length > 0) await channel.send(outcome.report)
  channel.finish(0)
  // A client that still sends its pack would not read the report. It hangs up when it has.
  await drainBody(outcome.rest).catch(() => undefined)
  return 0
}

async function sendAll(channel: CommandChannel, stream: ReadableStream<Uint8Array>): Promise<void> {
  for await (const chunk of stream) await channel.send(chunk)
}
