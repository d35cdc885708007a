import { GitError } from '../../errors.ts'
import type { Served, ServeRequest } from '../../model.ts'
import { encodePacket, FLUSH, malformed, PacketReader } from '../../packet.ts'
import { limitPaths } from '../objects/tree-size.ts'
import { cancelAtDeadline, startDeadline } from '../process/deadline.ts'
import { type Command, startGit, startGitInto } from '../process/process.ts'
import { findObject } from '../refs/revisions.ts'
import { requireFolder, type Store } from '../store.ts'
import { ENDED_WELL, report, served } from './services.ts'

/** Of all arguments: what git takes at most are 64 of them. */
const MAX_BYTES = 64 * 1024

/** Commits are asked for by the name of a ref. `dwim` rules of git would find these below `refs/` as well. */
const HIDDEN = /^(?:refs\/)?hidden\//

/**
 * `git archive --remote`: the client sends arguments of `git archive`, and git-upload-archive refuses those that are not meant for a
 * remote. What they name is measured first, as for an archive over HTTP.
 */
export async function serveRemoteArchive(
  store: Store,
  id: number,
  request: Omit<ServeRequest, 'maxInputBytes'>,
): Promise<Served> {
  const folder = await requireFolder(store.runner.root, id)
  const args = await readArguments(request, store.runner.timeouts.commandMs)
  const name = args.find((arg) => !arg.startsWith('-')) ?? 'HEAD'
  const revision = name.split(':', 1)[0] ?? ''
  if (HIDDEN.test(revision)) throw new GitError('invalid', 'revision', 'no such ref', { subject: name })
  // Git itself reports a name that is none to the client.
  const found = await findObject(store, id, revision, request)
  if (found) await limitPaths(store, id, [{ after: found.sha }], request)
  const command: Omit<Command, 'call'> = {
    args: ['upload-archive', folder],
    subject: folder,
    settings: SETTINGS,
    stdin: Buffer.concat([...args.map((arg) => encodePacket(`argument ${arg}\n`)), FLUSH]),
    isTransfer: true,
    memory: 'much',
  }
  const file = await store.streams.open(undefined, {
    expectedBytes: 0,
    start: (stdout) => startGitInto(store.runner, { ...command, call: { client: request.client } }, stdout),
    judge: () => undefined,
    mayCache: async () => false,
  })
  if (!file) return served(await startGit(store.runner, { ...command, call: request }))
  const done = file.ended?.then(report) ?? Promise.resolve(ENDED_WELL)
  return { stream: await file.read(undefined, request.signal), done }
}

/** The programs of the compressed forms are git itself, and these forms are offered to remotes. */
const SETTINGS = ['tgz', 'tar.gz'].flatMap(
  (form) =>
    [
      [`tar.${form}.command`, 'git archive gzip'],
      [`tar.${form}.remote`, 'true'],
    ] as const,
)

/** Packets `argument <text>` up to a flush (git-upload-archive(1)). */
async function readArguments({ body, signal }: Pick<ServeRequest, 'body' | 'signal'>, timeoutMs: number) {
  const deadline = startDeadline({ ...(signal && { signal }) }, timeoutMs)
  const packets = new PacketReader()
  const reader = body.getReader()
  const release = cancelAtDeadline(reader, deadline)
  const args: string[] = []
  try {
    for (let size = 0; ; ) {
      const packet = packets.next()
      if (packet?.kind === 'flush') return args
      if (packet) args.push(argumentOf(packet.kind === 'data' ? packet.payload.toString() : ''))
      else {
        const { done, value } = await reader.read()
        deadline.signal.throwIfAborted()
        size += value?.length ?? 0
        if (done || size > MAX_BYTES) throw malformed('the arguments have no end')
        packets.push(value)
      }
    }
  } finally {
    release()
    deadline.clear()
    reader.releaseLock()
  }
}

function argumentOf(text: string): string {
  const [, argument] = /^argument ([^\0\n]*)\n?$/.exec(text) ?? []
  if (argument === undefined) throw malformed('an argument was expected')
  return argument
}
