/** Whether it ends in so many milliseconds, well or not; nobody waits for it any longer. */
export async function within(milliseconds: number, end: Promise<unknown>): Promise<boolean> {
  const { promise: over, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), milliseconds)
  const ended = end.then(
    () => true,
    () => true,
  )
  return Promise.race([ended, over]).finally(() => clearTimeout(timer))
}
