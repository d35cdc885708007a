import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { viewerOf } from '../../http/viewer.ts'
import { presentRepository, Repository } from '../../wire/repository.ts'
import { getShownRepository } from '../repositories/load.ts'
import { migrateRepository } from './migrate.ts'
import { migrationOwner } from './owner.ts'
import { MigrateRepoOptions } from './schema.ts'

export const migrationRoutes = (context: Context) =>
  new Elysia({ name: 'migrations', detail: { tags: ['repository'] } }).use(gate(context)).post(
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
        description: 'The repository is empty at first; its branches and tags come a moment later.',
        'x-refuses': [409],
      },
    },
  )
