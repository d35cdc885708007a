// Starts the server of the data folder in the first argument, prints its address, and stops it when its input ends.
import { startEmbedded } from '../../src/postgres/embedded.ts'

const server = await startEmbedded(process.argv[2] ?? '')
process.stdout.write(`${server.url}\n`)
for await (const _ of Bun.stdin.stream());
await server.stop()
