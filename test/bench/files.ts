// `bun run bench files [--files MiB]` (1024): a file of a release comes, and goes out again, by one connection. See README.md.

import { cpuSeconds, residentMiB } from './processes.ts'
import { openStage, type Stage } from './stage.ts'

const option = process.argv.indexOf('--files')
const sizeMiB = option < 0 ? 1024 : Number(process.argv[option + 1])
const CHUNK = new Uint8Array(256 * 1024).fill(7)
const SAMPLE_MS = 50

/** A form with one file. The end of its content is what the server waits for. */
function form(boundary: string): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="attachment"; filename="large"\r\n\r\n`
  let left = (sizeMiB * 1024 * 1024) / CHUNK.length
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => controller.enqueue(encoder.encode(head)),
      pull(controller) {
        if (left > 0) {
          left -= 1
          return controller.enqueue(CHUNK)
        }
        controller.enqueue(encoder.encode(`\r\n--${boundary}--\r\n`))
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}

/** Time, CPU of the server, and how far its memory was above what it is at rest. */
async function measured(name: string, { counted, idleMiB }: Stage, work: () => Promise<void>): Promise<void> {
  const before = { at: performance.now(), cpu: cpuSeconds(counted.server) }
  let peak = 0
  const sampler = setInterval(() => {
    peak = Math.max(peak, residentMiB(counted.server))
  }, SAMPLE_MS)
  await work()
  clearInterval(sampler)
  const seconds = (performance.now() - before.at) / 1000
  const cpu = cpuSeconds(counted.server) - before.cpu
  process.stdout.write(
    `${name.padEnd(24)} ${seconds.toFixed(2)} s, CPU ${cpu.toFixed(2)} s, ${Math.round(sizeMiB / seconds)} MiB/s, at most ${Math.round(peak)} MiB (at rest ${Math.round(idleMiB)})\n`,
  )
}

const stage = await openStage(async () => undefined)
try {
  const post = async (path: string, body: object): Promise<{ id: number }> => {
    const answer = await stage.api(path, { method: 'POST', body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return answer.json()
  }
  await post('/user/repos', { name: 'files', auto_init: true })
  const { id } = await post('/repos/root/files/releases', { tag_name: 'v1' })
  await measured(`upload of ${sizeMiB} MiB`, stage, async () => {
    const boundary = 'boundary-of-the-bench'
    const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }
    const answer = await stage.api(`/repos/root/files/releases/${id}/assets`, {
      method: 'POST',
      headers,
      body: form(boundary),
    })
    if (answer.status !== 201) throw new Error(`upload: ${answer.status} ${await answer.text()}`)
  })
  await measured(`download of ${sizeMiB} MiB`, stage, async () => {
    const answer = await fetch(`${stage.url}/root/files/releases/download/v1/large`)
    let size = 0
    for await (const chunk of answer.body ?? []) size += chunk.length
    if (size !== sizeMiB * 1024 * 1024) throw new Error(`download: ${answer.status}, ${size} bytes`)
  })
} finally {
  await stage.stop()
}
