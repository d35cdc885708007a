import type { Clock } from '../../kernel/time.ts'

/** Of one answer, and of all of them. */
const MAX_ANSWER_BYTES = 2 * 1024 * 1024
const MAX_BYTES = 32 * 1024 * 1024

/** Git is asked again now and then: damage, and its repair by hand, show in what it says of tags while no ref moves. */
const MAX_AGE_MS = 600_000

interface Answer {
  bytes: Uint8Array<ArrayBuffer>
  madeAt: number
}

/** Small answers in memory, by the digest of everything that they depend on; what was used last is kept longest. */
export class Answers {
  readonly #clock: Clock
  readonly #kept = new Map<string, Answer>()
  #bytes = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  find(digest: string): Uint8Array<ArrayBuffer> | undefined {
    const known = this.#kept.get(digest)
    if (!known) return undefined
    if (this.#now() - known.madeAt >= MAX_AGE_MS) {
      this.#drop(digest)
      return undefined
    }
    this.#kept.delete(digest)
    this.#kept.set(digest, known)
    return known.bytes
  }

  /** For a question that is asked now: where its answer is to be kept. */
  place(digest: string): (bytes: Uint8Array<ArrayBuffer>) => void {
    const madeAt = this.#now()
    return (bytes) => this.#keep(digest, { bytes, madeAt })
  }

  #keep(digest: string, answer: Answer): void {
    this.#drop(digest)
    this.#kept.set(digest, answer)
    this.#bytes += weightOf(answer)
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= MAX_BYTES) return
      this.#drop(oldest)
    }
  }

  #now(): number {
    return this.#clock.now().getTime()
  }

  #drop(digest: string): void {
    const known = this.#kept.get(digest)
    if (known) this.#bytes -= weightOf(known)
    this.#kept.delete(digest)
  }
}

/** With what it takes to keep even an empty one. */
const weightOf = ({ bytes }: Answer): number => bytes.length + 512

/** Passes a stream on; when it has ended and was not too long, all of it is handed over. */
export function overheard(
  stream: ReadableStream<Uint8Array>,
  hear: (whole: Uint8Array<ArrayBuffer>) => void,
): ReadableStream<Uint8Array> {
  const reader = stream.getReader()
  let chunks: Uint8Array[] = []
  let size = 0
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) {
          if (size <= MAX_ANSWER_BYTES) hear(Uint8Array.from(Buffer.concat(chunks)))
          return controller.close()
        }
        size += value.length
        chunks = size <= MAX_ANSWER_BYTES ? [...chunks, value] : []
        controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
