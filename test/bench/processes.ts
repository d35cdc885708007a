import { readdirSync, readFileSync } from 'node:fs'

/** Clock ticks of the kernel's accounting: 100 a second on Linux. */
const TICKS_PER_SECOND = 100

interface Stat {
  parent: number
  /** Seconds of this process and of those of its children that have ended. */
  seconds: number
}

/** What proc(5) says of a process; undefined once it has ended. */
function readStat(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0)
    return { parent: Number(fields[1]), seconds: ticks / TICKS_PER_SECOND }
  } catch {
    return undefined
  }
}

export const parentOf = (pid: number): number => readStat(pid)?.parent ?? 0

/** CPU seconds of a process with everything below it: git children and database connections included. */
export function cpuSeconds(root: number): number {
  const stats = new Map<number, Stat>()
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? readStat(Number(name)) : undefined
    if (stat) stats.set(Number(name), stat)
  }
  const isBelow = (pid: number): boolean => pid === root || (pid > 1 && isBelow(stats.get(pid)?.parent ?? 0))
  return [...stats].filter(([pid]) => isBelow(pid)).reduce((sum, [, stat]) => sum + stat.seconds, 0)
}

/** Resident memory in MiB. */
export function residentMiB(pid: number): number {
  const [, kibibytes = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kibibytes) / 1024
}
