import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Busboy, type BusboyFileStream } from '@fastify/busboy'
import { badRequest, Refusal } from '../kernel/errors.ts'

/** A file that comes in a form. */
export interface FormFile {
  /** Without folders, as the client says; may be empty. */
  filename: string
  /** Comes as it is read. */
  content: ReadableStream<Uint8Array>
}

/** A form with a file has no more than a few small fields beside it. What is beyond is passed over, and a longer head is cut. */
const LIMITS = {
  parts: 20,
  files: 5,
  fields: 20,
  fieldNameSize: 100,
  fieldSize: 4096,
  headerPairs: 20,
  headerSize: 8192,
}

/** Whether the body is a form with files (RFC 7578). */
export const isFileForm = (request: Request): boolean =>
  /^multipart\/form-data\s*(;|$)/i.test(request.headers.get('content-type')?.trim() ?? '')

/**
 * Hands the first file of the field on while it comes; it is never held in memory. Undefined where the form has no such file. The
 * result counts only when the whole form has come.
 * @throws Refusal 400 for a form that is broken; what `use` throws, which ends the reading
 */
export async function useFormFile<Result>(
  request: Request,
  field: string,
  use: (file: FormFile) => Promise<Result>,
): Promise<Result | undefined> {
  const parser = openParser(request)
  const taken: { file?: BusboyFileStream; result?: Promise<Result> } = {}
  parser.on('file', (name, file, filename) => {
    // A form that breaks off fails the file as well, whether somebody reads it or not.
    file.on('error', () => undefined)
    if (name !== field || taken.file) return void file.resume()
    taken.file = file
    taken.result = use({ filename, content: contentOf(file) })
    taken.result.catch((error: unknown) => parser.destroy(asError(error)))
  })
  try {
    await pipeline(request.body ? Readable.from(request.body) : Readable.from([]), parser)
  } catch (error) {
    taken.file?.destroy(asError(error))
    // Why it was not taken says more than that the form was not read to its end.
    await taken.result
    throw asRefusal(error)
  }
  return taken.result
}

/** The parser's own words are about its inside. */
const asRefusal = (error: unknown): Refusal => (error instanceof Refusal ? error : badRequest('the form is broken'))

function openParser(request: Request) {
  try {
    return new Busboy({ headers: { 'content-type': request.headers.get('content-type') ?? '' }, limits: LIMITS })
  } catch {
    // It says nothing but that the boundary is missing.
    throw badRequest('the form is broken: it names no boundary')
  }
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))

function contentOf(file: BusboyFileStream): ReadableStream<Uint8Array> {
  const chunks: AsyncIterator<Uint8Array> = file[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next().catch((error: unknown) => {
          throw asRefusal(error)
        })
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        await chunks.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}
