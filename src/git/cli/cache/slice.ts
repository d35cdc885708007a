import type { ByteRange } from '../../model.ts'

/** A part of a stream, or all of it. What lies before it is read and dropped; the source is ended behind it. */
export function sliced(stream: ReadableStream<Uint8Array>, range: ByteRange | undefined): ReadableStream<Uint8Array> {
  if (!range) return stream
  const { start, end } = range
  const reader = stream.getReader()
  let at = 0
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const { done, value } = await reader.read()
          if (done) return controller.close()
          const [first, behind] = [Math.max(start - at, 0), Math.min(end - at, value.length)]
          at += value.length
          if (first < behind) controller.enqueue(value.subarray(first, behind))
          if (at >= end) {
            controller.close()
            await reader.cancel()
          }
          if (first < behind || at >= end) return
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
