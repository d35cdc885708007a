import { randomFillSync } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GitClient } from '../harness/git.ts'
import { residentMiB } from './processes.ts'

const MIB = 1024 * 1024

export interface GitMeasured {
  sizeMiB: number
  pushSeconds: number
  cloneSeconds: number
  /** `git clone file://` of the same repository. */
  plainCloneSeconds: number
  /** The server's memory before, and the most it was during push and clone. */
  idleMiB: number
  peakMiB: number
}

/** Pushes and clones a repository of incompressible files, beside git's own clone from the disk. */
export async function measureGit(
  git: GitClient,
  { cloneUrl, sizeMiB, server }: { cloneUrl: string; sizeMiB: number; server: number },
): Promise<GitMeasured> {
  const folder = mkdtempSync(join(git.folder, 'bench-'))
  try {
    const source = await makeRepository(git, folder, sizeMiB)
    const idleMiB = residentMiB(server)
    const memory = watchMemory(server)
    const pushSeconds = await time(() => git(['push', '--quiet', cloneUrl, 'HEAD:refs/heads/bench'], { cwd: source }))
    const cloneSeconds = await median(() => cloneInto(git, folder, cloneUrl))
    // As it lies on the server: in one pack. Loose objects would have to be packed for each clone.
    await git(['repack', '-adq'], { cwd: source })
    const plainCloneSeconds = await median(() => cloneInto(git, folder, `file://${source}`))
    return { sizeMiB, pushSeconds, cloneSeconds, plainCloneSeconds, idleMiB, peakMiB: memory.stop() }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
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

async function cloneInto(git: GitClient, folder: string, url: string): Promise<void> {
  const target = mkdtempSync(join(folder, 'clone-'))
  await git(['clone', '--quiet', '--bare', url, target])
  rmSync(target, { recursive: true, force: true })
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return (performance.now() - startedAt) / 1000
}

async function median(work: () => Promise<unknown>): Promise<number> {
  const seconds = [await time(work), await time(work), await time(work)]
  return seconds.sort((left, right) => left - right)[1] ?? 0
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
