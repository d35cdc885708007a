import { readFile } from 'node:fs/promises'

const LOOK_MS = 250

/**
 * Looks again and again how much memory a process has for itself (files that it maps, such as packs, are not counted), and tells
 * when it is more than allowed. Forty small trees can name 10^40 files: `git archive` gathered 13 GB for them in 90 s, and would have
 * gone on. Linux only; elsewhere nothing is told.
 * @returns ends the watch
 */
export function watchMemory(pid: number, maxBytes: number, tell: () => void): () => void {
  const timer = setInterval(() => {
    void ownBytes(pid).then((bytes) => {
      if (bytes > maxBytes) tell()
    })
  }, LOOK_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** 0 when the process is gone. */
async function ownBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024
}
