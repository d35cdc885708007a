import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { GitClient } from '../harness/git.ts'
import { type Content, commitAll, makeSource } from './git-source.ts'
import { cpuSeconds, residentMiB } from './processes.ts'

const ROUNDS = 16
const STORM = 20

export interface GitMeasured {
  content: Content
  /** Of the pack. */
  sizeMiB: number
  pushSeconds: number
  /** After a push of a small commit, and once more. */
  first: CloneMeasured
  again: CloneMeasured
  /** The same bytes from Bun.serve alone: what no server of its kind can be faster than. */
  bare: CloneMeasured
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
  /** How fast each was for the one beside it: what the machine does meanwhile slows both. */
  share: number
}

export interface Transport {
  cloneUrl: string
  content: Content
  sizeMiB: number
  /** The process id. */
  server: number
}

interface Bench {
  git: GitClient
  folder: string
  source: string
  cloneUrl: string
}

/** Pushes and clones a repository, beside git's own clone from the disk. */
export async function measureGit(
  git: GitClient,
  { cloneUrl, content, sizeMiB, server }: Transport,
): Promise<GitMeasured> {
  const folder = mkdtempSync(join(git.folder, 'bench-'))
  try {
    const source = join(folder, 'source')
    await makeSource(git, source, content, sizeMiB)
    const bench = { git, folder, source, cloneUrl }
    const idleMiB = residentMiB(server)
    const memory = watchMemory(server)
    const pushSeconds = await time(() => push(bench))
    const clones = await measureClones(bench)
    const peakMiB = memory.stop()
    const bare = await measureBareClones(bench)
    return {
      content,
      sizeMiB,
      pushSeconds,
      ...clones,
      bare,
      storm: await measureStorm(bench, server),
      idleMiB,
      peakMiB,
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const push = ({ git, source, cloneUrl }: Bench) =>
  git(['push', '--quiet', cloneUrl, 'HEAD:refs/heads/bench'], { cwd: source })

interface Pair {
  served: number
  plain: number
}

async function measureClones(bench: Bench): Promise<Pick<GitMeasured, 'first' | 'again'>> {
  const pairs: Record<'first' | 'again', Pair[]> = { first: [], again: [] }
  for (let round = 0; round <= ROUNDS; round++) {
    await pushSmall(bench, round)
    for (const pair of [pairs.first, pairs.again]) pair.push(await timePair(bench, bench.cloneUrl, round))
  }
  return { first: summarize(pairs.first), again: summarize(pairs.again) }
}

async function measureBareClones(bench: Bench): Promise<CloneMeasured> {
  const { href, pathname } = new URL(bench.cloneUrl)
  const child = Bun.spawn([process.execPath, resolve(import.meta.dir, 'bare-git.ts'), href], { stdout: 'pipe' })
  const { value } = await child.stdout.getReader().read()
  const url = new TextDecoder().decode(value).trim() + pathname
  const pairs: Pair[] = []
  for (let round = 0; round <= ROUNDS; round++) pairs.push(await timePair(bench, url, round))
  child.kill()
  await child.exited
  return summarize(pairs)
}

/** Beside a clone from the disk, by turns before and after it, so that what else the machine does falls on both alike. */
async function timePair(bench: Bench, url: string, round: number): Promise<Pair> {
  const before = round % 2 === 0 ? await timePlain(bench) : undefined
  const served = await time(() => cloneInto(bench, url))
  return { served, plain: before ?? (await timePlain(bench)) }
}

/** Without the first round, which warms the caches of the system up. */
function summarize([, ...pairs]: Pair[]): CloneMeasured {
  return {
    seconds: median(pairs.map(({ served }) => served)),
    plainSeconds: median(pairs.map(({ plain }) => plain)),
    share: median(pairs.map(({ served, plain }) => plain / served)),
  }
}

const timePlain = (bench: Bench) => time(() => cloneInto(bench, `file://${bench.source}`))

/** What was found out, or kept, for the clones before is not what is asked for any more. */
async function pushSmall(bench: Bench, round: number): Promise<void> {
  const { git, source } = bench
  writeFileSync(join(source, 'small'), `in round ${round}\n`)
  await commitAll(git, source)
  await push(bench)
  await git(['repack', '-adq'], { cwd: source })
}

async function measureStorm(bench: Bench, server: number): Promise<GitMeasured['storm']> {
  await pushSmall(bench, ROUNDS + 1)
  const cpuBefore = cpuSeconds(server)
  const memory = watchMemory(server)
  const all = Array.from({ length: STORM }, () => () => cloneInto(bench, bench.cloneUrl))
  const seconds = await time(() => Promise.all(all.map((clone) => clone())))
  return { clones: STORM, seconds, serverCpu: cpuSeconds(server) - cpuBefore, peakMiB: memory.stop() }
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
