import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { emptyIfMissing } from '../../../kernel/missing.ts'
import type { Served, ServeRequest } from '../../model.ts'
import { startDeadline } from '../process/deadline.ts'
import { startGit, startGitInto } from '../process/process.ts'
import { readRefState } from '../refs/ref-state.ts'
import { isRepository, requireFolder, type Store } from '../store.ts'
import { type Asked, readFetchRequest } from './fetch-request.ts'
import { listForClient } from './ref-lists.ts'
import {
  digestOf,
  ENDED_WELL,
  isSecondVersion,
  isUnmoved,
  isWell,
  protocolVariables,
  report,
  type Subject,
  served,
  uploadPack,
} from './services.ts'

/** One stateless request to upload-pack. Who may read the repository was judged before, for each request. */
export async function serveFetch(store: Store, id: number, request: ServeRequest): Promise<Served> {
  const folder = await requireFolder(store.runner.root, id)
  const environment = protocolVariables(request.protocol)
  const subject = { id, folder, protocol: environment.GIT_PROTOCOL }
  const { asked, body } = await readBody(store, request, isSecondVersion(environment))
  const command = uploadPack(subject, body)
  if (asked?.kind === 'refs') return listForClient(store, subject, { text: asked.text, command }, request)
  const sent = asked && (await sendPack(store, subject, asked, request))
  return sent ?? served(await startGit(store.runner, { ...command, call: request }))
}

async function readBody(store: Store, request: ServeRequest, isSecond: boolean) {
  const deadline = startDeadline(request, store.runner.timeouts.transferMs)
  return readFetchRequest(request.body, { isSecond, deadline }).finally(() => deadline.clear())
}

/**
 * A pack by way of the stream cache: Git writes it as fast as it can, and its place is free before a slow client has read it. Equal
 * clones share one pack while it is made, and as long as no ref moves. Undefined where the cache has no room for it.
 */
async function sendPack(
  store: Store,
  subject: Subject,
  { kind, text, bytes }: Asked,
  { client, signal }: ServeRequest,
): Promise<Served | undefined> {
  const state = kind === 'clone' ? await readRefState(subject.folder) : undefined
  const key = state && { repositoryId: subject.id, name: digestOf(store, subject, state, text) }
  const file = await store.streams.open(key, {
    expectedBytes: await packedBytes(subject.folder),
    // Without the signal of the request: others may be reading when that one ends.
    start: (stdout) => startGitInto(store.runner, { ...uploadPack(subject, bytes), call: { client } }, stdout),
    // git itself reports its failures to the client.
    judge: () => undefined,
    mayCache: async (exit) =>
      state !== undefined &&
      isWell(report(exit)) &&
      (await isUnmoved(subject, state)) &&
      (await isRepository(subject.folder)),
  })
  if (!file) return undefined
  return { stream: await file.read(undefined, signal), done: file.ended?.then(report) ?? Promise.resolve(ENDED_WELL) }
}

/** Of all packs of a repository: about as much as a clone of everything. */
async function packedBytes(folder: string): Promise<number> {
  const packs = join(folder, 'objects', 'pack')
  const names = (await readdir(packs).catch(emptyIfMissing)).filter((name) => name.endsWith('.pack'))
  // A pack that was joined with others meanwhile counts nothing.
  const sizes = names.map((name) =>
    stat(join(packs, name)).then(
      ({ size }) => size,
      () => 0,
    ),
  )
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}
