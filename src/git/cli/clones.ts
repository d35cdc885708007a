import type { Served } from '../model.ts'
import { startDeadline } from './deadline.ts'
import type { FetchQuestion, PlainClone } from './fetch-request.ts'
import type { PackCache, PackKey } from './pack-cache.ts'
import type { Child, Exit } from './process.ts'
import { type RefState, readRefState } from './ref-state.ts'
import { ENDED_WELL, report } from './services.ts'
import { isRepository, objectFormatOf, type Store } from './store.ts'
import { digestOf, isUnmoved, isWell, type Subject } from './upload-pack.ts'

/** From what lies on the disk; undefined where that is not what is asked for. */
export async function answerAssembled(
  store: Store,
  { id, folder }: Subject,
  { wants, format }: PlainClone,
  signal: AbortSignal | undefined,
): Promise<Served | undefined> {
  // Git tells a client that speaks of other ids.
  if ((await objectFormatOf(store, id)) !== format) return undefined
  const opened = await store.assemblies.open({ id, folder, format, wants })
  if (!opened) return undefined
  // Who is too slow finds the files closed, and the answer broken off.
  const deadline = startDeadline({ signal }, store.runner.timeouts.transferMs)
  deadline.signal.addEventListener('abort', () => void opened.close(), { once: true })
  void opened.closed.then(() => deadline.clear())
  if (deadline.signal.aborted) await opened.close()
  return { stream: opened.stream(), send: opened.send, done: Promise.resolve(ENDED_WELL) }
}

export interface Clone {
  subject: Subject
  question: FetchQuestion
  signal: AbortSignal | undefined
  askAlone(): Promise<Served>
  /** Not ended with the request that it was begun for. */
  askForAll(): Promise<Child>
}

/** From what git has made for another who asked the same, if it is kept or on its way. */
export async function answerKept(store: Store, packs: PackCache, clone: Clone): Promise<Served> {
  const { subject, question } = clone
  const state = await readRefState(subject.folder)
  if (!state) return clone.askAlone()
  const key = { id: subject.id, digest: digestOf(store, subject, state, question.asked) }
  const file = await packs.find(key)
  if (file) return { file, stream: file.stream(), done: Promise.resolve(ENDED_WELL) }
  const spool =
    (await packs.join(key)) ?? (packs.isWorthKeeping(key) ? await write(packs, key, clone, state) : undefined)
  if (!spool) return clone.askAlone()
  return { stream: spool.read(clone.signal), done: spool.exited.then(report) }
}

async function write(packs: PackCache, key: PackKey, { subject, askForAll }: Clone, state: RefState) {
  const mayKeep = async (exit: Exit) => isWell(report(exit)) && (await isUnmoved(subject, state))
  const spool = await packs.write(key, askForAll, mayKeep)
  void spool.settled.then(() => afterwards(packs, subject)).catch(() => undefined) // The periodic task cleans as well.
  return spool
}

async function afterwards(packs: PackCache, { id, folder }: Subject): Promise<void> {
  // Deleted while the pack got its place: nothing of it stays.
  if (await isRepository(folder)) await packs.keepWithinLimits()
  else await packs.forget(id)
}
