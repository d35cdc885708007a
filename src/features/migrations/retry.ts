import type { Context } from '../../context.ts'
import { conflict, invalid, notFound } from '../../kernel/errors.ts'
import { areUsable } from '../mirrors/address.ts'
import { enqueuePulls } from '../mirrors/enqueue.ts'
import { sealCredentials } from '../mirrors/remote.ts'
import { findPullMirror, updatePullMirror } from '../mirrors/store.ts'
import type { RetryMigrationOption } from './schema.ts'
import { givenCredentials } from './start.ts'
import { enqueueImports, findMigration, updateMigration } from './store.ts'

/**
 * Goes on with a migration at once, also after it was given up.
 * @throws Refusal 404 where nothing is taken over, 409 when all has come, 422 for credentials that cannot be
 */
export async function retryMigration(
  context: Context,
  repositoryId: number,
  option: RetryMigrationOption,
): Promise<void> {
  const credentials = givenCredentials(option)
  if (!areUsable(credentials)) throw invalid('user name and password are one line each')
  const change = credentials && { credentials: sealCredentials(context, credentials) }
  await context.db.transaction(async (tx) => {
    const migration = await findMigration(tx, repositoryId)
    if (!migration) throw notFound('the repository takes nothing over from another server')
    if (migration.endedAt !== null) throw conflict('everything has been taken over')
    await updateMigration(tx, repositoryId, { ...change, failures: 0, startedAt: context.clock.now() })
    if (await findPullMirror(tx, repositoryId)) {
      if (change) await updatePullMirror(tx, repositoryId, change)
      await enqueuePulls(tx, [repositoryId])
    } else await enqueueImports(tx, [repositoryId])
  })
}
