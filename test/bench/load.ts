import { cpuSeconds, residentMiB } from './processes.ts'

export interface Load {
  name: string
  requests: number
  connections: number
  /** Between the answer to a request and the next one, on each connection. */
  pauseMs?: number
  /** One request; a status of 400 or more ends the measurement, for it would measure refusals. */
  send(index: number): Promise<Response>
}

export interface Measured {
  name: string
  requestsPerSecond: number
  medianMs: number
  p99Ms: number
  /** CPU seconds for 1,000 requests. */
  serverCpu: number
  databaseCpu: number
  residentMiB: number
}

/** The processes whose work is counted. */
export interface Counted {
  server: number
  database: number
}

/** Sends a fixed number of requests over a fixed number of connections, after a tenth of them for warming up. */
export async function measure(load: Load, { server, database }: Counted): Promise<Measured> {
  await run(load, Math.ceil(load.requests / 10), 0)
  const before = { server: cpuSeconds(server), database: cpuSeconds(database), at: performance.now() }
  const times = await run(load, load.requests, Math.ceil(load.requests / 10))
  const seconds = (performance.now() - before.at) / 1000
  const perThousand = (cpu: number) => (cpu * 1000) / load.requests
  times.sort((left, right) => left - right)
  return {
    name: load.name,
    requestsPerSecond: load.requests / seconds,
    medianMs: times[Math.floor(times.length / 2)] ?? 0,
    p99Ms: times[Math.floor(times.length * 0.99)] ?? 0,
    serverCpu: perThousand(cpuSeconds(server) - before.server),
    databaseCpu: perThousand(cpuSeconds(database) - before.database),
    residentMiB: residentMiB(server),
  }
}

async function run({ name, connections, pauseMs, send }: Load, requests: number, from: number): Promise<number[]> {
  const times: number[] = []
  let next = 0
  const worker = async () => {
    while (next < requests) {
      const index = from + next++
      const startedAt = performance.now()
      const response = await send(index)
      const body = await response.text()
      if (response.status >= 400) throw new Error(`${name}: ${response.status} ${body.slice(0, 300)}`)
      times.push(performance.now() - startedAt)
      if (pauseMs !== undefined) await Bun.sleep(pauseMs)
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
  return times
}
