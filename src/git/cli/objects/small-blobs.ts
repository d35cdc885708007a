import type { Call } from '../../model.ts'
import { streamGit } from '../process/process.ts'
import { requireFolder, type Store } from '../store.ts'

/** Blobs that are asked for at once: all of them together are held. */
const AT_ONCE = 500

/** Contents of all blobs of at most so many bytes that the repository holds, in no order, also of those that no ref reaches any more. */
export async function* smallBlobs(
  store: Store,
  id: number,
  { maxBytes }: { maxBytes: number },
  call?: Call,
): AsyncGenerator<Uint8Array> {
  const folder = await requireFolder(store.runner.root, id)
  const format = '--batch-check=%(objecttype) %(objectsize) %(objectname)'
  const args = ['cat-file', '--batch-all-objects', '--unordered', '--buffer', format]
  const output = await streamGit(store.runner, { args, folder, call, isTransfer: true, memory: 'any' })
  let shas: string[] = []
  for await (const line of lines(output)) {
    const [type, size, sha = ''] = line.split(' ')
    if (type === 'blob' && Number(size) <= maxBytes) shas.push(sha)
    if (shas.length < AT_ONCE) continue
    yield* contents(store, id, { shas, maxBytes }, call)
    shas = []
  }
  yield* contents(store, id, { shas, maxBytes }, call)
}

async function* contents(
  store: Store,
  id: number,
  { shas, maxBytes }: { shas: readonly string[]; maxBytes: number },
  call: Call | undefined,
): AsyncGenerator<Uint8Array> {
  const questions = shas.map((name) => ({ verb: 'contents' as const, name, maxBytes }))
  for (const answer of await store.readers.ask(id, questions, call))
    if (answer.kind === 'object' && answer.content) yield answer.content
}

async function* lines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    const whole = `${rest}${decoder.decode(chunk, { stream: true })}`.split('\n')
    rest = whole.pop() ?? ''
    yield* whole
  }
}
