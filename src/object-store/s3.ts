import { S3Client, type S3File } from 'bun'
import limit from 'p-limit'
import { unavailable } from '../kernel/errors.ts'
import { errorCode, messageOf } from '../kernel/thrown.ts'
import type { Log } from '../log.ts'
import { measured } from './measured.ts'
import { probe } from './probe.ts'
import { checkKey, type ListedObject, type ObjectRange, type ObjectStore, ObjectStoreError } from './store.ts'

export interface S3Settings {
  /** Undefined: Amazon's of the region. */
  endpoint: string | undefined
  region: string
  bucket: string
  accessKeyId: string
  secretAccessKey: string
  /** What all keys begin with: empty, or a folder with `/` at its end. */
  prefix: string
}

/** Each upload holds some parts of 5 MiB in memory. Others wait; their clients are not asked for more until then. */
const UPLOADS_AT_ONCE = 16
const UPLOADS_WAITING = 64

/** Parts of one upload that are on their way at once. */
const PARTS_AT_ONCE = 2

/**
 * Objects in a bucket of S3, or of any server that speaks its protocol. Written by `write` with a `Response`, whose failing body leaves
 * neither an object nor an open upload; the writer of Bun would store the part that came.
 */
export function createS3Store(settings: S3Settings, log: Pick<Log, 'error'>): ObjectStore {
  const { prefix, ...options } = settings
  const client = new S3Client({ ...options, queueSize: PARTS_AT_ONCE })
  const fileOf = (key: string): S3File => client.file(prefix + checkKey(key))
  const uploads = limit(UPLOADS_AT_ONCE)
  const store: ObjectStore = {
    async put(key, content, option) {
      const file = fileOf(key)
      if (uploads.pendingCount >= UPLOADS_WAITING) throw unavailable('too many uploads at once, try again')
      return uploads(async () => {
        const incoming = measured(content, option)
        try {
          await file.write(new Response(incoming.content))
        } catch (error) {
          incoming.throwFailure()
          throw failure(error)
        } finally {
          await incoming.release()
        }
        return incoming.result()
      })
    },
    async open(key, range) {
      const size = await store.size(key)
      return size === undefined ? undefined : { size, content: contentOf(fileOf(key), { size, range }, log) }
    },
    async size(key) {
      const file = fileOf(key)
      try {
        return (await file.stat()).size
      } catch (error) {
        if (isMissing(error)) return undefined
        throw failure(error)
      }
    },
    async remove(key) {
      // Wire: S3 answers 204 also where there is none.
      await fileOf(key).delete().catch(fail)
    },
    list: (folder) => listFolder(client, { prefix, folder: `${checkKey(folder)}/` }),
    // Bun ends an upload that fails. Those of a killed process are for a rule of the bucket (docs/operations.md).
    removeUnfinished: async () => 0,
    check: () => probe(store),
  }
  return store
}

interface Part {
  size: number
  range: ObjectRange | undefined
}

function contentOf(file: S3File, { size, range }: Part, log: Pick<Log, 'error'>): ReadableStream<Uint8Array> {
  const { start, end } = { start: 0, end: size, ...range }
  if (start >= Math.min(end, size)) return new Blob([]).stream()
  const isWhole = start === 0 && end >= size
  const reader = (isWhole ? file : file.slice(start, end)).stream().getReader()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (done) controller.close()
          else controller.enqueue(value)
        } catch (error) {
          // The answer has begun: nobody above can say more than that it broke off.
          log.error({ err: error }, 'the object storage broke off while a file was read')
          throw failure(error)
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

async function* listFolder(
  client: S3Client,
  { prefix, folder }: { prefix: string; folder: string },
): AsyncGenerator<ListedObject> {
  let continuationToken: string | undefined
  do {
    const page = await client
      .list({ prefix: prefix + folder, ...(continuationToken && { continuationToken }) })
      .catch(fail)
    for (const { key, size, lastModified } of page.contents ?? []) {
      if (size === undefined || lastModified === undefined) throw new ObjectStoreError(`the list lacks facts of ${key}`)
      yield { key: key.slice(prefix.length), size, modifiedAt: new Date(lastModified) }
    }
    continuationToken = page.isTruncated ? page.nextContinuationToken : undefined
  } while (continuationToken !== undefined)
}

const isMissing = (error: unknown): boolean => errorCode(error) === 'NoSuchKey'

/** What is said about a setting, and does not pass by itself. */
const SETTINGS = new Set(['AccessDenied', 'InvalidAccessKeyId', 'NoSuchBucket', 'SignatureDoesNotMatch'])

function failure(error: unknown): ObjectStoreError {
  const code = errorCode(error) ?? 'failure'
  return new ObjectStoreError(`the object storage: ${code}: ${messageOf(error)}`, {
    cause: error,
    isSetting: SETTINGS.has(code),
  })
}

function fail(error: unknown): never {
  throw failure(error)
}
