import { readFile } from 'node:fs/promises'

const LOOK_MS = 250

/**
 * Looks again and again how much memory a process and its children have for themselves (files that they map, such as packs, are not
 * counted), and calls `exceeded` when it is more than allowed. Linux only; elsewhere nothing is called.
 * @returns ends the watch
 */
export function watchMemory(pid: number, maxBytes: number, exceeded: () => void): () => void {
  const timer = setInterval(() => {
    void ownBytes(pid).then((bytes) => {
      if (bytes > maxBytes) exceeded()
    })
  }, LOOK_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** 0 when the process is gone. */
async function ownBytes(pid: number): Promise<number> {
  const [status, children] = await Promise.all([
    readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''),
    readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => ''),
  ])
  const own = Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024
  const below = await Promise.all(children.split(' ').filter(Boolean).map(Number).map(ownBytes))
  return below.reduce((sum, bytes) => sum + bytes, own)
}
