import { type Reaction, reaction } from '../../events/reaction.ts'
import type { JobHandlers } from '../../jobs/handlers.ts'
import { runMigration } from './run.ts'
import { enqueueImports, listMigrating } from './store.ts'

export const migrationHandlers: Pick<JobHandlers, 'migrations.import'> = {
  'migrations.import': (context, { repositoryId }, run) => runMigration(context, repositoryId, run),
}

/** Once branches and tags have come: the rest. */
export const importContent: Reaction = reaction({
  name: 'migrations.import_content',
  kinds: ['repository.migrated'],
  async react({ db }, { repositoryId }) {
    if (repositoryId !== null) await enqueueImports(db, await listMigrating(db, [repositoryId]))
  },
})
