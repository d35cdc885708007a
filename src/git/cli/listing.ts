import type { Served } from '../model.ts'
import { overheard } from './answers.ts'
import { readRefState } from './ref-state.ts'
import { remembered } from './services.ts'
import type { Store } from './store.ts'
import { digestOf, isUnmoved, isWell, type Subject } from './upload-pack.ts'

/** An answer that depends on the refs and the question alone. `ask` is asked unless it is known. */
export async function answerRefs(
  store: Store,
  subject: Subject,
  question: string,
  ask: () => Promise<Served>,
): Promise<Served> {
  const state = await readRefState(subject.folder)
  if (!state) return ask()
  const digest = digestOf(store, subject, state, question)
  const known = store.answers.find(digest)
  if (known) return remembered(known)
  const keep = store.answers.place(digest)
  const { stream, done } = await ask()
  const hear = async (answer: Uint8Array<ArrayBuffer>) => {
    if (isWell(await done) && (await isUnmoved(subject, state))) keep(answer)
  }
  return { stream: overheard(stream, (answer) => void hear(answer).catch(() => undefined)), done }
}
