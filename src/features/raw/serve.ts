import type { Context } from '../../context.ts'
import type { Client, TreeEntry } from '../../git/model.ts'
import { hasCurrent } from '../../http/answers.ts'
import { answerHead, type ByteRange, fileHeaders, readRange, streamed } from '../../http/download.ts'
import { SNIFFED_BYTES, sniffMediaType } from '../../http/media-type.ts'
import { notFound } from '../../kernel/errors.ts'
import { openObject } from '../lfs/objects.ts'
import { MAX_POINTER_BYTES, readPointer } from '../lfs/pointer.ts'
import { findHeld } from '../lfs/store.ts'

interface StoredFile {
  repositoryId: number
  entry: TreeEntry
  client: Client
}

/** Bytes that are sent as a file. */
interface Content {
  name: string
  size: number
  /** Without a range, everything. */
  read(range: ByteRange | undefined): Promise<ReadableStream<Uint8Array>>
}

/**
 * Sends a file of a repository as it is. The ETag is the blob's id, so it is right on every branch.
 * @throws Refusal 404 for folders and submodules, 416
 */
export async function serveFile({ git }: Context, request: Request, file: StoredFile): Promise<Response> {
  const { repositoryId, entry, client } = file
  if (entry.kind === 'folder' || entry.kind === 'submodule') throw notFound()
  const etag = `"${entry.sha}"`
  const { signal } = request
  return serveContent(request, etag, async () => {
    const { size, read } = await git.openBlob(repositoryId, entry.sha, { signal, client })
    return { name: entry.name, size, read: (range) => read(range, signal) }
  })
}

/**
 * The same, but what a pointer of Git LFS stands for where the repository has it. The ETag is the object's id then.
 * @throws Refusal as `serveFile`, 410 where the store has lost it
 */
export async function serveMedia(context: Context, request: Request, file: StoredFile): Promise<Response> {
  const object = await findObject(context, file)
  if (!object) return serveFile(context, request, file)
  const etag = `"${object.oid}"`
  return serveContent(request, etag, async () => ({
    name: file.entry.name,
    size: object.sizeBytes,
    read: async (range) => (await openObject(context, object, range)).content,
  }))
}

async function findObject({ git, db, config }: Context, { repositoryId, entry }: StoredFile) {
  const isFile = entry.kind === 'file' || entry.kind === 'executable'
  if (!config.lfsEnabled || !isFile) return undefined
  const size = (await git.sizes(repositoryId, [entry.sha])).get(entry.sha)?.size
  if (size === undefined || size >= MAX_POINTER_BYTES) return undefined
  const { bytes } = await git.readBlob(repositoryId, entry.sha)
  const pointer = readPointer(bytes)
  if (!pointer) return undefined
  const held = await findHeld(db, repositoryId, [pointer.oid])
  const object = held.get(pointer.oid)
  return object?.sizeBytes === pointer.size ? object : undefined
}

async function serveContent(request: Request, etag: string, open: () => Promise<Content>): Promise<Response> {
  if (hasCurrent(request, etag)) return new Response(null, { status: 304, headers: { etag } })
  const content = await open()
  const { size, read } = content
  const range = readRange(request, { size, etag })
  // Before the beginning is looked at: while somebody reads, git goes on.
  const body = await read(range)
  try {
    const beginning = { start: 0, end: Math.min(size, SNIFFED_BYTES) }
    const head = await new Response(await read(beginning)).bytes()
    const headers = fileHeaders({ name: content.name, media: sniffMediaType(head), size, range, etag })
    if (request.method !== 'HEAD') return streamed(body, { status: range ? 206 : 200, headers })
    await body.cancel()
    return answerHead(request, size, headers)
  } catch (error) {
    await body.cancel()
    throw error
  }
}
