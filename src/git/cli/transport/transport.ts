import type { Call, GitService, Served, ServeRequest } from '../../model.ts'
import { encodePacket, FLUSH } from '../../packet.ts'
import { lookInto } from '../history/look.ts'
import { frugalSettings, runGit, startGit } from '../process/process.ts'
import { hookRun } from '../refs/hooks.ts'
import { folderOf, objectFormatOf, requireFolder, type Store } from '../store.ts'
import { serveFetch } from './fetch.ts'
import { listForClient } from './ref-lists.ts'
import { inMemory, isSecondVersion, protocolVariables, SETTINGS, served } from './services.ts'

export async function advertise(
  store: Store,
  id: number,
  service: GitService,
  option: { protocol?: string; isBare?: boolean } = {},
  call?: Call,
): Promise<Served> {
  const folder = await requireFolder(store.runner.root, id)
  const environment = protocolVariables(option.protocol)
  if (service === 'upload-pack' && environment.GIT_PROTOCOL === 'version=2') return offer(store, id, call)
  const args = [service, '--http-backend-info-refs', folder]
  const command = { args, subject: folder, settings: SETTINGS[service], environment, isTransfer: true }
  // gitprotocol-http(5): version 2 of a fetch goes without the name of the service.
  const isUnnamed = option.isBare || (service === 'upload-pack' && isSecondVersion(environment))
  const prefix = isUnnamed ? undefined : Buffer.concat([encodePacket(`# service=git-${service}\n`), FLUSH])
  const text = `${service} ${isUnnamed}`
  return listForClient(store, { id, folder, protocol: environment.GIT_PROTOCOL }, { text, command, prefix }, call)
}

/** With version 2 the greeting names no ref, only what this git can do for an object format. So git is asked once. */
async function offer(store: Store, id: number, call: Call | undefined): Promise<Served> {
  const format = await objectFormatOf(store, id)
  const known = store.offers.get(format)
  if (known !== undefined) return inMemory(known)
  const args = ['upload-pack', '--http-backend-info-refs', folderOf(store.runner.root, id)]
  const environment = { GIT_PROTOCOL: 'version=2' }
  const { stdout } = await runGit(store.runner, { args, settings: SETTINGS['upload-pack'], environment, call })
  store.offers.set(format, Uint8Array.from(stdout))
  return offer(store, id, call)
}

/** One request of smart HTTP. The body is streamed: git reads it as fast as it can use it. */
export async function serve(store: Store, id: number, service: GitService, request: ServeRequest): Promise<Served> {
  if (service === 'upload-pack') return serveFetch(store, id, request)
  const folder = await requireFolder(store.runner.root, id)
  const maxBytes = request.maxInputBytes ?? store.maxPushBytes
  const { judge } = request
  const hooks = await hookRun(store, folder, { id, call: request, isJudged: judge !== undefined })
  const child = await startGit(store.runner, {
    args: [service, '--stateless-rpc', folder],
    subject: folder,
    settings: [
      ...SETTINGS[service],
      ...frugalSettings(store.runner),
      ['receive.maxInputSize', String(maxBytes)],
      ...(hooks?.settings ?? []),
    ],
    takesIn: {},
    environment: { ...protocolVariables(request.protocol), ...hooks?.environment },
    stdin: request.body,
    call: request,
    isTransfer: true,
    answer: judge && (async (quarantine) => (await judge(await lookInto(store, id, quarantine))) ?? ''),
  })
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
