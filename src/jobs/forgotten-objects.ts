import type { Context } from '../context.ts'

const HOUR_MS = 3_600_000
/** The row of an object is written right after it. Nothing is younger when it is taken for forgotten. */
export const FORGOTTEN_HOURS = 24
const BATCH = 100

interface Folder {
  /** Of the object store. */
  name: string
  /** Of these keys those that rows name. */
  listKnown(keys: readonly string[]): Promise<ReadonlySet<string>>
}

/** Removes the objects of a folder that crashes left: those whose rows were never written. Returns how many. */
export async function removeForgotten(
  { objects, clock }: Context,
  { name, listKnown }: Folder,
  signal: AbortSignal,
): Promise<number> {
  const before = forgottenBefore(clock.now())
  let [removed, batch]: [number, string[]] = [0, []]
  const sweep = async () => {
    const known = await listKnown(batch)
    const forgotten = batch.filter((key) => !known.has(key))
    for (const key of forgotten) await objects.remove(key)
    removed += forgotten.length
    batch = []
  }
  for await (const { key, modifiedAt } of objects.list(name)) {
    if (signal.aborted) return removed
    if (modifiedAt < before) batch.push(key)
    if (batch.length === BATCH) await sweep()
  }
  await sweep()
  return removed
}

export const forgottenBefore = (now: Date): Date => new Date(now.getTime() - FORGOTTEN_HOURS * HOUR_MS)
