/** Bytes of an object, `end` is behind the last one. */
export interface ObjectRange {
  start: number
  end: number
}

export interface PutOption {
  /** More is refused with 413, and nothing is stored. */
  maxBytes: number
  /** Where the caller knows what comes: anything else is refused with 422, and nothing is stored. */
  expected?: Partial<StoredObject> | undefined
  /** Ends the upload; nothing is stored. */
  signal?: AbortSignal | undefined
}

export interface StoredObject {
  size: number
  /** Hexadecimal. */
  sha256: string
}

export interface OpenObject {
  /** Of the whole object, also where a range was asked for. */
  size: number
  /** Read only as fast as it is asked for. Must be read to its end or cancelled. */
  content: ReadableStream<Uint8Array>
}

export interface ListedObject {
  key: string
  size: number
  modifiedAt: Date
}

/**
 * Large files outside of Git and the database. A key names content that does not change: whoever wants other content takes another key.
 * An object is there whole or not at all, also after a crash, and when `put` has ended the store does not lose it.
 *
 * Keys are parts of `a-z`, `0-9`, `-`, `_` and `.` with `/` between them. They never hold what users wrote.
 */
export interface ObjectStore {
  /**
   * Stores what comes, in memory of a constant size. Where the key is taken already, the new content replaces the old in one step.
   * @throws Refusal 413, 422 (see `PutOption`), 503 where too many wait; what reading the content throws; ObjectStoreError
   */
  put(key: string, content: ReadableStream<Uint8Array>, option: PutOption): Promise<StoredObject>
  /** Undefined where there is no such object. */
  open(key: string, range?: ObjectRange): Promise<OpenObject | undefined>
  /** Undefined where there is no such object. */
  size(key: string): Promise<number | undefined>
  /** Also where there is no such object. */
  remove(key: string): Promise<void>
  /** All objects whose key begins with the folder and `/`, in no order. What is stored meanwhile may be missing. */
  list(folder: string): AsyncIterable<ListedObject>
  /** Removes what uploads left behind that began before, and did not end. Returns how many. */
  removeUnfinished(before: Date): Promise<number>
  /** Stores, reads and removes a small object. @throws ObjectStoreError, or what the disk throws */
  check(): Promise<void>
}

/** The store does not do what it should: it is away, or refuses us. Clients get 503. */
export class ObjectStoreError extends Error {
  /** Whether it answered, and what it said is that a setting is wrong. */
  readonly isSetting: boolean

  constructor(message: string, { cause, isSetting = false }: { cause?: unknown; isSetting?: boolean } = {}) {
    super(message, { cause })
    this.name = 'ObjectStoreError'
    this.isSetting = isSetting
  }
}

const KEY = /^[a-z0-9][a-z0-9._-]{0,99}(?:\/[a-z0-9][a-z0-9._-]{0,99}){0,7}$/

/** Keys are made by the program, so a wrong one is a bug. */
export function checkKey(key: string): string {
  if (!KEY.test(key)) throw new Error(`not a key of an object: ${JSON.stringify(key)}`)
  return key
}
