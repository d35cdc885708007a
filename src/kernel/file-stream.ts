import type { FileHandle } from 'node:fs/promises'

/** Bytes that a client is given at once. */
const PIECE_BYTES = 256 * 1024

interface Source {
  /** Up to where bytes can be read: beyond `at`, or `at` and less when no more will come. */
  available(at: number): Promise<number>
  /** Called once: at the end, after a failure, and when the reader goes away. */
  close(): Promise<void>
}

/** Reads a file from `start`, one piece each time that the client asks for more. */
export function streamFile(file: FileHandle, start: number, { available, close }: Source): ReadableStream<Uint8Array> {
  let at = start
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const end = await available(at)
          if (end <= at) {
            await close()
            return controller.close()
          }
          const piece = new Uint8Array(Math.min(PIECE_BYTES, end - at))
          const { bytesRead } = await file.read(piece, 0, piece.length, at)
          if (bytesRead === 0) throw new Error('a file became shorter while it was read')
          at += bytesRead
          controller.enqueue(piece.subarray(0, bytesRead))
        } catch (error) {
          await close()
          controller.error(error)
        }
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  )
}
