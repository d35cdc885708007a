/** Looks again and again until it holds; fails after half a minute. For what another process does at a time of its own. */
export async function until(holds: () => boolean | Promise<boolean>, what: string, withinMs = 30_000): Promise<void> {
  const end = performance.now() + withinMs
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within ${withinMs} ms: ${what}`)
    await Bun.sleep(10)
  }
}
