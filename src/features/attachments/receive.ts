import { randomUUID } from 'node:crypto'
import type { Context } from '../../context.ts'
import { type FormFile, isFileForm, useFormFile } from '../../http/form-file.ts'
import { SNIFFED_BYTES, sniffMediaType } from '../../http/media-type.ts'
import { badRequest, tooLarge } from '../../kernel/errors.ts'
import { peek } from '../../kernel/peek.ts'
import type { PutOption } from '../../object-store/store.ts'
import { readName } from './name.ts'
import { keyOf } from './objects.ts'

/** A file that is in the object store, and that no row names yet. */
export interface ReceivedFile {
  uuid: string
  name: string
  size: number
  sha256: string
  mediaType: string
}

export interface ReceiveRule {
  /** Goes before the name that the form says. */
  name: string | undefined
  maxBytes: number
  /** Such as `.zip`; empty: all. */
  allowedEndings: readonly string[]
}

/** What the form around a file may have at most. */
export const FORM_BYTES = 64 * 1024

/** How large the file of a request is at least, as far as it can be known before it comes. */
export function announcedBytes(request: Request): number {
  const announced = Number(request.headers.get('content-length') ?? 0)
  return isFileForm(request) ? announced - FORM_BYTES : announced
}

/**
 * Stores the file of a request while it comes: the field `attachment` of a form, or the body as it is.
 * @throws Refusal 400 without a name or for a broken form, 413, 422 for a name that is not allowed
 */
export async function receiveFile(context: Context, request: Request, rule: ReceiveRule): Promise<ReceivedFile> {
  if (announcedBytes(request) > rule.maxBytes) throw tooLarge(`the file is larger than ${rule.maxBytes} bytes`)
  let stored: ReceivedFile | undefined
  const store = async ({ filename, content }: FormFile) => {
    const name = readName(rule.name ?? filename, rule.allowedEndings)
    stored = await storeFile(context, { name, content, maxBytes: rule.maxBytes })
    return stored
  }
  if (!isFileForm(request)) return store({ filename: '', content: request.body ?? new Blob([]).stream() })
  try {
    const received = await useFormFile(request, 'attachment', store)
    if (!received) throw badRequest('Could not determine name of attachment.')
    return received
  } catch (error) {
    // The form may turn out to be broken behind the file.
    if (stored) await discardFile(context, stored)
    throw error
  }
}

/** For a file that no row will name. */
export const discardFile = ({ objects }: Context, { uuid }: ReceivedFile): Promise<void> => objects.remove(keyOf(uuid))

interface Incoming extends PutOption {
  name: string
  content: ReadableStream<Uint8Array>
}

/**
 * Stores a file of whatever origin.
 * @throws as `ObjectStore.put`
 */
export async function storeFile({ objects }: Context, { name, content, ...option }: Incoming): Promise<ReceivedFile> {
  const { head, whole } = await peek(content, SNIFFED_BYTES)
  const { type: mediaType } = sniffMediaType(head)
  const uuid = randomUUID()
  const { size, sha256 } = await objects.put(keyOf(uuid), whole, option)
  return { uuid, name, size, sha256, mediaType }
}
