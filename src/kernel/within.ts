/** Waits no longer than so many milliseconds. Returns whether it ended in that time. @throws what it fails with in that time */
export async function within(milliseconds: number, end: PromiseLike<unknown>): Promise<boolean> {
  const { promise: over, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), milliseconds)
  return Promise.race([end.then(() => true), over]).finally(() => clearTimeout(timer))
}
