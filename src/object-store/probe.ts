import { randomHex } from '../kernel/hashing.ts'
import { type ObjectStore, ObjectStoreError } from './store.ts'

/** Does once what the store is for. Several processes may do so at the same time. */
export async function probe(store: ObjectStore): Promise<void> {
  const key = `probe/${randomHex(8)}`
  const { sha256 } = await store.put(key, new Blob(['hearth']).stream(), { maxBytes: 100 })
  try {
    const opened = await store.open(key)
    const text = opened && (await new Response(opened.content).text())
    if (text !== 'hearth') throw new ObjectStoreError(`what was stored (SHA-256 ${sha256}) is not what was read`)
  } finally {
    await store.remove(key)
  }
}
