import { createHash } from 'node:crypto'
import { invalid, tooLarge } from '../kernel/errors.ts'
import type { PutOption, StoredObject } from './store.ts'

/** Content on its way into the store. */
export interface Measured {
  /** Fails, and so keeps the object from being stored, when the content is not what it should be. */
  content: ReadableStream<Uint8Array>
  /** What has passed, once all of it has. */
  result(): StoredObject
  /** Throws on what made the content fail: its source, its size, the signal. Does nothing where it has not failed. */
  throwFailure(): void
  /** Lets go of the source. To be called when nothing more is read, whatever the reason. */
  release(): Promise<void>
}

/** Counts and hashes what passes, and compares it with what is allowed before the stream ends. */
export function measured(source: ReadableStream<Uint8Array>, option: PutOption): Measured {
  const { maxBytes, signal } = option
  const reader = source.getReader()
  const hash = createHash('sha256')
  let size = 0
  let sha256: string | undefined
  let failure: { error: unknown } | undefined
  // A failure of the source is thrown where it is read; here it would be reported twice.
  const release = () => reader.cancel().catch(() => undefined)
  signal?.addEventListener('abort', release)
  const next = async (): Promise<Uint8Array | undefined> => {
    const { done, value } = await reader.read()
    signal?.throwIfAborted()
    if (done) {
      const digest = hash.digest('hex')
      refuseOther(option.expected, { size, sha256: digest })
      sha256 = digest
      return undefined
    }
    size += value.byteLength
    if (size > maxBytes) throw tooLarge(`the file is larger than ${maxBytes} bytes`)
    hash.update(value)
    return value
  }
  const content = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const value = await next()
          if (value) controller.enqueue(value)
          else controller.close()
        } catch (error) {
          failure = { error }
          throw error
        }
      },
      cancel: release,
    },
    { highWaterMark: 0 },
  )
  return {
    content,
    result() {
      if (sha256 === undefined) throw new Error('the content has not ended')
      return { size, sha256 }
    },
    throwFailure() {
      if (failure) throw failure.error
    },
    async release() {
      signal?.removeEventListener('abort', release)
      await release()
    },
  }
}

function refuseOther(expected: PutOption['expected'], { size, sha256 }: StoredObject): void {
  if (expected?.size !== undefined && expected.size !== size)
    throw invalid(`the file has ${size} bytes, not ${expected.size}`)
  if (expected?.sha256 !== undefined && expected.sha256 !== sha256)
    throw invalid('the content of the file has another SHA-256 than was said')
}
