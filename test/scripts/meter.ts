import { readdirSync, readFileSync } from 'node:fs'
import type { Sql } from '../../db/client.ts'

/** Runs in a process of its own, whose time is not the server's. */
const LOAD = `
  const [url, token, rounds] = process.argv.slice(1)
  const headers = token === '' ? undefined : { authorization: 'token ' + token }
  for (let round = 0; round < Number(rounds); round += 1) {
    const answer = await fetch(url, { headers })
    if (!answer.ok) throw new Error(answer.status + ' ' + await answer.text())
    await answer.arrayBuffer()
  }`

export interface Meter {
  /** CPU of one request, as a text: `2.17 ms  (server 1.34, database 0.83)`. */
  measure(path: string, by: { token: string; rounds: number }): Promise<string>
}

/** Measures a server that runs in this process, and the PostgreSQL that `sql` leads to. */
export async function createMeter(sql: Sql, url: string): Promise<Meter> {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  const postmaster = Number(statOf(row?.pid ?? 0)[1])
  return {
    async measure(path, { token, rounds }) {
      await load(`${url}${path}`, token, Math.ceil(rounds / 10))
      const [server, database] = [process.cpuUsage(), cpuOf(postmaster)]
      await load(`${url}${path}`, token, rounds)
      const used = process.cpuUsage(server)
      const inServer = (used.user + used.system) / 1000 / rounds
      const inDatabase = (cpuOf(postmaster) - database) / rounds
      const total = (inServer + inDatabase).toFixed(2)
      return `${total} ms  (server ${inServer.toFixed(2)}, database ${inDatabase.toFixed(2)})`
    },
  }
}

async function load(url: string, token: string, rounds: number): Promise<void> {
  const command = [process.execPath, '-e', LOAD, url, token, String(rounds)]
  const child = Bun.spawn(command, { stdout: 'inherit', stderr: 'inherit' })
  if ((await child.exited) !== 0) throw new Error('the load failed')
}

/** Milliseconds that the backends of a PostgreSQL have used; the kernel counts in hundredths of a second. */
function cpuOf(postmaster: number): number {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(Number(name)))
    .filter((stat) => Number(stat[1]) === postmaster)
    .reduce((sum, stat) => sum + (Number(stat[11]) + Number(stat[12])) * 10, 0)
}

/** The fields after the name of the program: state, parent, ... */
function statOf(pid: number): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}
