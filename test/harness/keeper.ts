// Keeps a throw-away PostgreSQL for as long as whoever started this process holds its standard input open, so that the
// server and its files go away even when the tests are killed. Prints the server's address.
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Account, canEnter, databaseAccount } from '../../src/postgres/account.ts'
import { startServer } from '../../src/postgres/embedded.ts'
import { SHARED_PLACE } from '../../src/postgres/place.ts'
import { databasePrograms } from '../../src/postgres/programs.ts'

const account = databaseAccount()
/** Tests do without fsync; measurements do not. */
const isDurable = process.argv.includes('--durable')
const folder = temporaryFolder(account)
// Ctrl-C in a terminal reaches every process; the end of the input says when the tests are done.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
try {
  const programs = databasePrograms(account)
  const server = await startServer({ folder: join(folder, 'postgres'), account, programs, isDurable })
  process.stdout.write(`${server.url}\n`)
  for await (const _ of Bun.stdin.stream());
  await server.stop(true)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** A folder that PostgreSQL's user can reach, wherever the system's temporary folder is. */
function temporaryFolder(account: Account | undefined): string {
  const inTemporary = mkdtempSync(join(tmpdir(), 'hearth-test-'))
  chmodSync(inTemporary, 0o711)
  if (canEnter(account, inTemporary)) return inTemporary
  rmSync(inTemporary, { recursive: true })
  mkdirSync(SHARED_PLACE, { recursive: true, mode: 0o755 })
  const shared = mkdtempSync(join(SHARED_PLACE, 'test-'))
  chmodSync(shared, 0o711)
  return shared
}
