import { migrate } from '../../db/migrate.ts'
import { loadProcessConfig } from '../config.ts'
import { openStorage } from '../storage.ts'
import type { Command } from './arguments.ts'

export const migrateCommand: Command = {
  name: 'migrate',
  summary: 'Brings the database to the state that this version needs, and ends.',
  details: 'A start does the same; this is for installations that migrate in a step of its own.',
  async run() {
    await using resources = new AsyncDisposableStack()
    const applied = await migrate(await openStorage(loadProcessConfig(), resources))
    process.stdout.write(applied.length === 0 ? 'The database is up to date.\n' : `Applied: ${applied.join(', ')}\n`)
    return 0
  },
}
