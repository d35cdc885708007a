/** CPU time in milliseconds that this process spends on the work, the service of the test included. Waiting for a busy machine does not count. */
export async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
