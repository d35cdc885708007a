import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { viewerOf } from '../../http/viewer.ts'
import { notFound } from '../../kernel/errors.ts'
import { Migration, presentMigration } from '../../wire/migration.ts'
import { presentRepository, Repository } from '../../wire/repository.ts'
import { getShownRepository } from '../repositories/load.ts'
import { migrationOwner } from './owner.ts'
import { retryMigration } from './retry.ts'
import { MigrateRepoOptions, RetryMigrationOption } from './schema.ts'
import { migrateRepository } from './start.ts'
import { findMigration, listParts } from './store.ts'

export const migrationRoutes = (context: Context) => {
  const show = async (repositoryId: number): Promise<Migration> => {
    const [migration, parts] = await Promise.all([
      findMigration(context.db, repositoryId),
      listParts(context.db, repositoryId),
    ])
    if (!migration) throw notFound('the repository takes nothing over from another server')
    return presentMigration(migration, parts)
  }
  return new Elysia({ name: 'migrations', detail: { tags: ['repository'] } })
    .use(gate(context))
    .post(
      '/repos/migrate',
      async ({ actor, body, request, status }) => {
        const owner = await migrationOwner(context, actor, { request, option: body })
        const id = await migrateRepository(context, { actor, owner, option: body })
        return status(201, presentRepository(await getShownRepository(context, actor, id), viewerOf(context, actor)))
      },
      {
        login: { scope: 'repository' },
        body: MigrateRepoOptions,
        response: { 201: Repository },
        detail: {
          operationId: 'repoMigrate',
          summary: 'Copy or mirror a repository of another server',
          description:
            'The repository is empty at first; its branches and tags come a moment later, then what else was asked for.',
          'x-refuses': [409],
        },
      },
    )
    .get('/repos/:owner/:repo/migration', ({ repo }) => show(repo.repository.id), {
      changeRepo: { scope: 'repository', level: 'admin', evenArchived: true },
      response: { 200: Migration },
      detail: { operationId: 'repoGetMigration', summary: 'How far a repository has come from another server' },
    })
    .post(
      '/repos/:owner/:repo/migration',
      async ({ repo, body, status }) => {
        await retryMigration(context, repo.repository.id, body)
        return status(202, await show(repo.repository.id))
      },
      {
        changeRepo: { scope: 'repository', level: 'admin' },
        body: RetryMigrationOption,
        response: { 202: Migration },
        detail: {
          operationId: 'repoRetryMigration',
          summary: 'Go on with a migration at once, with other credentials if some are given',
          'x-refuses': [409],
        },
      },
    )
}
