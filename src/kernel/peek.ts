/** The first bytes of a stream, all there are or `bytes`, and a stream of all of it. */
export async function peek(
  stream: ReadableStream<Uint8Array>,
  bytes: number,
): Promise<{ head: Uint8Array; whole: ReadableStream<Uint8Array> }> {
  const reader = stream.getReader()
  const early: Uint8Array[] = []
  for (let size = 0; size < bytes; ) {
    const { done, value } = await reader.read()
    if (done) break
    early.push(value)
    size += value.byteLength
  }
  const head = Buffer.concat(early).subarray(0, bytes)
  const whole = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const first = early.shift()
        if (first) return controller.enqueue(first)
        const { done, value } = await reader.read()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
  return { head, whole }
}
