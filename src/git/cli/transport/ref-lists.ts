import type { Call, Served } from '../../model.ts'
import { type Command, gather } from '../process/process.ts'
import { readRefState } from '../refs/ref-state.ts'
import { MAX_LIST_BYTES, type Store } from '../store.ts'
import { digestOf, inMemory, isUnmoved, isWell, report, type Subject } from './services.ts'

export interface RefQuestion {
  /** Everything that the answer depends on besides the repository. */
  text: string
  command: Omit<Command, 'call'>
  /** Goes before what git prints. */
  prefix?: Uint8Array
}

/**
 * The refs as git lists them for a client. Every fetch and every poll begins with such a list, so it is cached, under the content of
 * all refs and settings. Each replica reads those for itself: where a ref moved, by whomever, the key is another.
 */
export async function listForClient(
  store: Store,
  subject: Subject,
  { text, command, prefix }: RefQuestion,
  call: Call | undefined,
): Promise<Served> {
  const state = await readRefState(subject.folder)
  const digest = state && digestOf(store, subject, state, text)
  const cached = digest === undefined ? undefined : store.refLists.get(digest)
  if (cached) return inMemory(cached)
  const { stdout, exit } = await gather(store.runner, { ...command, call })
  if (exit.stopped) throw exit.stopped
  const bytes = Uint8Array.from(prefix ? Buffer.concat([prefix, stdout]) : stdout)
  const end = report(exit)
  // Nothing was written while git read the refs, so the list is the one of the key.
  const mayCache = state && bytes.length <= MAX_LIST_BYTES && isWell(end) && (await isUnmoved(subject, state))
  if (digest !== undefined && mayCache) store.refLists.set(digest, bytes)
  return inMemory(bytes, end)
}
