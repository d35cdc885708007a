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

/** A stretch of a measurement: what it took, in milliseconds per request and in CPU seconds altogether. */
export interface Round {
  times: number[]
  seconds: number
  serverCpu: number
  databaseCpu: number
}

/** The compiler of JavaScript is done with a route after so many requests: the first 500 search pages cost a half more than the next. */
const WARM_UPS = 1000

/** Sends a fixed number of requests over a fixed number of connections, after some for warming up. */
export async function measure(load: Load, counted: Counted): Promise<Measured> {
  await run(load, WARM_UPS, load.requests * 2)
  return summarize(load.name, [await measureRound(load, counted)], counted)
}

/** Begins with a tenth of the requests for warming up. */
export async function measureRound(load: Load, { server, database }: Counted): Promise<Round> {
  const warmUps = Math.ceil(load.requests / 10)
  await run(load, warmUps, 0)
  const before = { server: cpuSeconds(server), database: cpuSeconds(database), at: performance.now() }
  const times = await run(load, load.requests, warmUps)
  return {
    times,
    seconds: (performance.now() - before.at) / 1000,
    serverCpu: cpuSeconds(server) - before.server,
    databaseCpu: cpuSeconds(database) - before.database,
  }
}

export function summarize(name: string, rounds: Round[], { server }: Counted): Measured {
  const times = rounds.flatMap((round) => round.times).sort((left, right) => left - right)
  const sum = (part: (round: Round) => number) => rounds.reduce((total, round) => total + part(round), 0)
  const perThousand = (cpu: number) => (cpu * 1000) / times.length
  return {
    name,
    requestsPerSecond: times.length / sum(({ seconds }) => seconds),
    medianMs: times[Math.floor(times.length / 2)] ?? 0,
    p99Ms: times[Math.floor(times.length * 0.99)] ?? 0,
    serverCpu: perThousand(sum(({ serverCpu }) => serverCpu)),
    databaseCpu: perThousand(sum(({ databaseCpu }) => databaseCpu)),
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
