import { randomFillSync } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GitClient } from '../harness/git.ts'
import { cpuSeconds, residentMiB } from './processes.ts'

const MIB = 1024 * 1024

const ROUNDS = 8
const STORM = 20

export interface GitMeasured {
  sizeMiB: number
  pushSeconds: number
  /**
   * After a push git makes a pack for the first clone, which is kept for all that follow. Where kept packs have served nobody yet, as in
   * the first round, it is made once more for the second, and kept then.
   */
  first: CloneMeasured
  second: CloneMeasured
  again: CloneMeasured
  /** Many clones that begin at once after a push: until the last has ended, and CPU of the server with its processes. */
  storm: { clones: number; seconds: number; serverCpu: number; peakMiB: number }
  /** The server's memory before, and the most it was while one client at a time pushed and cloned. */
  idleMiB: number
  peakMiB: number
}

/** Medians. */
export interface CloneMeasured {
  seconds: number
  /** `git clone file://` of the same repository, beside each. */
  plainSeconds: number
}

interface Bench {
  git: GitClient
  folder: string
  source: string
  cloneUrl: string
}

/** Pushes and clones a repository of incompressible files, beside git's own clone from the disk. */
export async function measureGit(
  git: GitClient,
  { cloneUrl, sizeMiB, server }: { cloneUrl: string; sizeMiB: number; server: number },
): Promise<GitMeasured> {
  const folder = mkdtempSync(join(git.folder, 'bench-'))
  try {
    const source = await makeRepository(git, folder, sizeMiB)
    const bench = { git, folder, source, cloneUrl }
    const idleMiB = residentMiB(server)
    const memory = watchMemory(server)
    const pushSeconds = await time(() => git(['push', '--quiet', cloneUrl, 'HEAD:refs/heads/bench'], { cwd: source }))
    // As it lies on the server: in one pack. Loose objects would have to be packed for each clone.
    await git(['repack', '-adq'], { cwd: source })
    const clones = await measureClones(bench)
    const peakMiB = memory.stop()
    return { sizeMiB, pushSeconds, ...clones, storm: await measureStorm(bench, server), idleMiB, peakMiB }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Each beside a clone from the disk, by turns before and after it, so that what else the machine does falls on both alike. */
async function measureClones(bench: Bench): Promise<Pick<GitMeasured, 'first' | 'second' | 'again'>> {
  const pairs: Record<'first' | 'second' | 'again', { served: number; plain: number }[]> = {
    first: [],
    second: [],
    again: [],
  }
  for (let round = 0; round <= ROUNDS; round++) {
    await moveRef(bench, round)
    for (const pair of [pairs.first, pairs.second, pairs.again]) {
      const before = round % 2 === 0 ? await timePlain(bench) : undefined
      const served = await time(() => cloneInto(bench, bench.cloneUrl))
      pair.push({ served, plain: before ?? (await timePlain(bench)) })
    }
  }
  // The first round warms the caches of the system up.
  const of = (all: { served: number; plain: number }[]) => ({
    seconds: median(all.slice(1).map(({ served }) => served)),
    plainSeconds: median(all.slice(1).map(({ plain }) => plain)),
  })
  return { first: of(pairs.first), second: of(pairs.second), again: of(pairs.again) }
}

const timePlain = (bench: Bench) => time(() => cloneInto(bench, `file://${bench.source}`))

/** Another set of refs: what was kept for the one before is not what is asked for any more. */
async function moveRef({ git, source, cloneUrl }: Bench, round: number): Promise<void> {
  const gone = round === 0 ? [] : [`:refs/heads/round-${round - 1}`]
  await git(['push', '--quiet', cloneUrl, `HEAD:refs/heads/round-${round}`, ...gone], { cwd: source })
}

async function measureStorm(bench: Bench, server: number): Promise<GitMeasured['storm']> {
  await moveRef(bench, ROUNDS + 1)
  const cpuBefore = cpuSeconds(server)
  const memory = watchMemory(server)
  const all = Array.from({ length: STORM }, () => () => cloneInto(bench, bench.cloneUrl))
  const seconds = await time(() => Promise.all(all.map((clone) => clone())))
  return { clones: STORM, seconds, serverCpu: cpuSeconds(server) - cpuBefore, peakMiB: memory.stop() }
}

async function makeRepository(git: GitClient, folder: string, sizeMiB: number): Promise<string> {
  const source = join(folder, 'source')
  mkdirSync(source)
  await git(['init', '--quiet'], { cwd: source })
  for (let part = 0; part < sizeMiB; part++)
    writeFileSync(join(source, `part${part}`), randomFillSync(Buffer.alloc(MIB)))
  await git(['add', '.'], { cwd: source })
  await git(['commit', '--quiet', '-m', `${sizeMiB} MiB`], { cwd: source })
  return source
}

async function cloneInto({ git, folder }: Bench, url: string): Promise<void> {
  const target = mkdtempSync(join(folder, 'clone-'))
  await git(['clone', '--quiet', '--bare', url, target])
  rmSync(target, { recursive: true, force: true })
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return (performance.now() - startedAt) / 1000
}

function median(seconds: number[]): number {
  const sorted = seconds.sort((left, right) => left - right)
  return sorted[sorted.length >> 1] ?? 0
}

function watchMemory(pid: number) {
  let peak = residentMiB(pid)
  const timer = setInterval(() => {
    peak = Math.max(peak, residentMiB(pid))
  }, 50)
  return {
    stop: () => {
      clearInterval(timer)
      return peak
    },
  }
}
