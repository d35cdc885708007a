// Attacks a server of its own with random connections, to be run by hand for ten minutes or so:
//
//   bun test/scripts/hostile.ts --minutes 10 [--seed 7]
//
// Ends with 1 when the server has died or does not answer any more. Prints the seed, and the server's memory every ten seconds.
import { parseArgs } from 'node:util'
import { startReplica } from '../features/transport/replica.ts'
import { attack } from '../harness/hostile-connections.ts'
import { startTestService } from '../harness/service.ts'

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string' } } })
const seed = Number(values.seed ?? Date.now() % 1_000_000)
console.log(`seed ${seed}`)
const service = await startTestService()
const { path } = await service.createRepository(service.admin)
const content = Buffer.alloc(3_000_000, 'hostile\n').toString('base64')
const made = await service.admin.client.post(`${path}/contents/large.txt`, { content })
if (made.status !== 201) throw new Error(`no file to read: ${made.text}`)
const replica = await startReplica(service)
const end = performance.now() + Number(values.minutes) * 60_000
let connections = 0
let isAlive = true
for (let round = 0; isAlive && performance.now() < end; round++) {
  const rawPath = `/api/v1${path}/raw/large.txt`
  connections += await attack({ url: replica.url, rawPath, seed: seed + round, seconds: 10, width: 16 })
  isAlive = await fetch(`${replica.url}/api/v1/version`).then(
    ({ status }) => status === 200,
    () => false,
  )
  const memory = isAlive ? `${Math.round(replica.memory().now / 2 ** 20)} MiB` : 'dead'
  console.log(`${Math.round((round + 1) * 10)} s: ${connections} connections, ${memory}`)
}
if (isAlive) await replica.stop()
await service.stop()
process.exit(isAlive ? 0 : 1)
