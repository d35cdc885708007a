import type { Call, GitService, Served, ServeRequest } from '../model.ts'
import { encodePacket, FLUSH } from '../packet.ts'
import { serveFetch } from './fetch.ts'
import { hookRun } from './hooks.ts'
import { answerRefs } from './listing.ts'
import { prepareClone } from './prepare-clone.ts'
import { runGit, startGit } from './process.ts'
import { isSecondVersion, protocolVariables, remembered, SETTINGS, served } from './services.ts'
import { objectFormatOf, requireFolder, type Store } from './store.ts'

export async function advertise(
  store: Store,
  id: number,
  service: GitService,
  option: { protocol?: string; isBare?: boolean } = {},
  call?: Call,
): Promise<Served> {
  const folder = await requireFolder(store.runner.root, id)
  const environment = protocolVariables(option.protocol)
  if (service === 'upload-pack' && environment.GIT_PROTOCOL === 'version=2') return offer(store, id, folder, call)
  const greet = () => greeting(store, { folder, service, environment, isBare: option.isBare }, call)
  if (service === 'receive-pack') return greet()
  const question = option.isBare ? 'bare greeting' : 'greeting'
  return answerRefs(store, { id, folder, protocol: environment.GIT_PROTOCOL }, question, greet)
}

interface Greeting {
  folder: string
  service: GitService
  environment: Record<string, string>
  isBare: boolean | undefined
}

async function greeting(store: Store, { folder, service, environment, isBare }: Greeting, call: Call | undefined) {
  const child = await startGit(store.runner, {
    args: [service, '--http-backend-info-refs', folder],
    subject: folder,
    settings: SETTINGS[service],
    environment,
    call,
    isTransfer: true,
  })
  const { stream, done } = served(child)
  // gitprotocol-http(5): version 2 of a fetch goes without the name of the service.
  if (isBare || (service === 'upload-pack' && isSecondVersion(environment))) return { stream, done }
  return { stream: prefixed(Buffer.concat([encodePacket(`# service=git-${service}\n`), FLUSH]), stream), done }
}

/**
 * With version 2, what a fetch is greeted with names no ref: it says what this git can do, for an object format. So it is
 * asked once, and a clone waits for one process less (8 ms of 240 for 20 MB).
 */
async function offer(store: Store, id: number, folder: string, call: Call | undefined): Promise<Served> {
  const format = await objectFormatOf(store, id)
  const known = store.offers.get(format)
  if (known !== undefined) return remembered(known)
  const args = ['upload-pack', '--http-backend-info-refs', folder]
  const environment = { GIT_PROTOCOL: 'version=2' }
  const { stdout } = await runGit(store.runner, { args, settings: SETTINGS['upload-pack'], environment, call })
  store.offers.set(format, Uint8Array.from(stdout))
  return offer(store, id, folder, call)
}

/**
 * One request of smart HTTP, both ways as streams: git reads the body as fast as it can use it, and stops at a full pipe when
 * the client reads slowly. Measured with 200 MB each way: the server stayed below 80 MB, and a
 * push took 1.1 s per 60 MB as it does without us.
 */
export async function serve(store: Store, id: number, service: GitService, request: ServeRequest): Promise<Served> {
  if (service === 'upload-pack') return serveFetch(store, id, request)
  const folder = await requireFolder(store.runner.root, id)
  const maxBytes = request.maxInputBytes ?? store.maxPushBytes
  const hooks = await hookRun(store, folder, id, request)
  const child = await startGit(store.runner, {
    args: [service, '--stateless-rpc', folder],
    subject: folder,
    settings: [...SETTINGS[service], ['receive.maxInputSize', String(maxBytes)], ...(hooks?.settings ?? [])],
    environment: { ...protocolVariables(request.protocol), ...hooks?.environment },
    stdin: request.body,
    call: request,
    isTransfer: true,
  })
  // Where that fails, the next clone asks git itself.
  void child.exited.then(() => prepareClone(store, id)).catch(() => undefined)
  return served(child)
}

/** The same for a client that stays: git greets it, and asks and is asked until either has enough. */
export async function converse(store: Store, id: number, request: ServeRequest): Promise<Served> {
  const folder = await requireFolder(store.runner.root, id)
  const child = await startGit(store.runner, {
    args: ['upload-pack', '--strict', folder],
    subject: folder,
    settings: SETTINGS['upload-pack'],
    environment: protocolVariables(request.protocol),
    stdin: request.body,
    call: request,
    isTransfer: true,
  })
  return served(child)
}

function prefixed(first: Uint8Array, rest: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = rest.getReader()
  let isSent = false
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (!isSent) {
          isSent = true
          return controller.enqueue(first)
        }
        const { done, value } = await reader.read()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
