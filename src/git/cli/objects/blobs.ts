import { sha256Hex } from '../../../kernel/hashing.ts'
import { GitError } from '../../errors.ts'
import type { Blob, Call, ObjectName, OpenBlob } from '../../model.ts'
import { sliced } from '../cache/slice.ts'
import { failure, startGitInto, streamGit } from '../process/process.ts'
import { resolveObject } from '../refs/revisions.ts'
import { requireFolder, type Store } from '../store.ts'

const MAX_BYTES = 8 * 1024 * 1024
/** Up to here a blob is taken from the `cat-file` process that stays (0.7 ms) instead of a new one (2.8 ms). */
const MAX_SHARED_BYTES = 1024 * 1024

async function resolveBlob(store: Store, id: number, revision: string, call?: Call): Promise<ObjectName> {
  const found = await resolveObject(store, id, revision, call)
  if (found.type === 'blob') return found
  throw new GitError('invalid', 'object-type', `a ${found.type} is no blob`, { subject: revision })
}

export async function readBlob(
  store: Store,
  id: number,
  revision: string,
  option: { maxBytes?: number } = {},
  call?: Call,
): Promise<Blob> {
  const maxBytes = option.maxBytes ?? MAX_BYTES
  const { sha, size } = await resolveBlob(store, id, revision, call)
  if (size > maxBytes) throw new GitError('too-large', 'limit', `the blob has ${size} bytes`, { subject: revision })
  const [answer] = await store.readers.ask(id, [{ verb: 'contents', name: sha, maxBytes }], call)
  if (answer?.kind !== 'object' || !answer.content) throw new GitError('not-found', 'object', 'no such blob')
  return { sha, size, bytes: answer.content }
}

export async function openBlob(store: Store, id: number, revision: string, call?: Call): Promise<OpenBlob> {
  const { sha, size } = await resolveBlob(store, id, revision, call)
  if (size <= MAX_SHARED_BYTES) {
    const { bytes } = await readBlob(store, id, sha, {}, call)
    return { sha, size, read: async ({ start, end } = { start: 0, end: size }) => streamOf(bytes.subarray(start, end)) }
  }
  const folder = await requireFolder(store.runner.root, id)
  const command = { args: ['cat-file', 'blob', sha], folder, isTransfer: true }
  const file = await store.streams.open(
    { repositoryId: id, name: sha256Hex(`blob ${sha}`) },
    {
      expectedBytes: size,
      // Without the signal of the request: others may be reading when that one ends.
      start: (stdout) => startGitInto(store.runner, { ...command, call: { client: call?.client } }, stdout),
      judge: (exit) => (exit.exitCode === 0 ? undefined : failure(command.args, exit)),
      mayCache: async () => true,
    },
  )
  if (file) return { sha, size, read: file.read }
  return { sha, size, read: async (range) => sliced(await streamGit(store.runner, { ...command, call }), range) }
}

function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      if (bytes.length > 0) controller.enqueue(bytes)
      controller.close()
    },
  })
}

export async function sizes(store: Store, id: number, shas: string[], call?: Call): Promise<Map<string, ObjectName>> {
  const answers = await store.readers.ask(
    id,
    shas.map((name) => ({ verb: 'info' as const, name })),
    call,
  )
  return new Map(
    answers.flatMap((answer) =>
      answer.kind === 'object' ? [[answer.sha, { sha: answer.sha, type: answer.type, size: answer.size }]] : [],
    ),
  )
}
