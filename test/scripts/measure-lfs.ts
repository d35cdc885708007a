import { createHash, randomFillSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { cpuSeconds } from '../bench/processes.ts'
import { openStage } from '../bench/stage.ts'
import { lfsClient } from '../features/lfs/stage.ts'

/**
 * Memory and CPU of the server while one file of Git LFS is sent and read, made on the way: `bun test/scripts/measure-lfs.ts [MIB]`.
 */
const MIB = Number(process.argv[2] ?? 1024)
const CHUNK_BYTES = 1024 * 1024

const noise = randomFillSync(Buffer.alloc(CHUNK_BYTES))
function chunkAt(index: number): Uint8Array<ArrayBuffer> {
  const chunk = new Uint8Array(noise)
  new DataView(chunk.buffer).setUint32(0, index)
  return chunk
}

function chunks(): ReadableStream<Uint8Array<ArrayBuffer>> {
  let index = 0
  return new ReadableStream(
    {
      pull(controller) {
        if (index === MIB) controller.close()
        else controller.enqueue(chunkAt(index++))
      },
    },
    { highWaterMark: 0 },
  )
}

const peakMiB = (pid: number): number =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024

const stage = await openStage(async () => undefined)
try {
  await stage.api('/user/repos', { method: 'POST', body: JSON.stringify({ name: 'big', auto_init: true }) })
  const headers = { authorization: `Basic ${btoa(`root:${stage.token}`)}` }
  const { root, put } = lfsClient(stage.url, 'root/big', headers)
  const small = new TextEncoder().encode('warm')
  const oid = createHash('sha256').update(small).digest('hex')
  await put({ oid, size: small.length, bytes: small })
  const hash = createHash('sha256')
  for (let index = 0; index < MIB; index++) hash.update(chunkAt(index))
  const name = hash.digest('hex')
  const { server } = stage.counted
  const row = async (title: string, work: () => Promise<void>) => {
    const [cpu, startedAt] = [cpuSeconds(server), performance.now()]
    await work()
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    const used = (cpuSeconds(server) - cpu).toFixed(2)
    console.log(`${title}: CPU ${used} s, ${seconds} s, memory at most ${Math.round(peakMiB(server))} MiB`)
  }
  console.log(`idle: memory at most ${Math.round(peakMiB(server))} MiB`)
  await row(`${MIB} MiB sent`, async () => {
    const answer = await fetch(`${root}/objects/${name}/${MIB * CHUNK_BYTES}`, {
      method: 'PUT',
      headers,
      body: chunks(),
    })
    if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`)
  })
  await row(`${MIB} MiB read`, async () => {
    const answer = await fetch(`${root}/objects/${name}`, { headers })
    const read = createHash('sha256')
    if (answer.body) for await (const chunk of answer.body) read.update(chunk)
    if (read.digest('hex') !== name) throw new Error('something else was read')
  })
} finally {
  await stage.stop()
}
