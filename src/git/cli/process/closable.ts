/** Passes a stream on until it is closed. `close` says whether there was still something to come. */
export function closable(source: ReadableStream<Uint8Array>): {
  stream: ReadableStream<Uint8Array>
  close(reason: unknown): boolean
} {
  const reader = source.getReader()
  let end: ReadableStreamDefaultController<Uint8Array> | undefined
  const close = (reason: unknown): boolean => {
    const open = end
    end = undefined
    open?.close()
    if (open) void reader.cancel(reason).catch(() => undefined) // The source may have failed; it is not read any more.
    return open !== undefined
  }
  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        end = controller
      },
      async pull(controller) {
        const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }))
        if (!end) return
        if (!done && value) controller.enqueue(value)
        else close('end of input')
      },
      cancel(reason) {
        end = undefined
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
  return { stream, close }
}
