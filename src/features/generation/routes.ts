import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { viewerOf } from '../../http/viewer.ts'
import { presentRepository, Repository } from '../../wire/repository.ts'
import { getShownRepository } from '../repositories/load.ts'
import { GenerateRepoOption } from './schema.ts'
import { generateRepository } from './service.ts'

export const generationRoutes = (context: Context) =>
  new Elysia({ name: 'generation', detail: { tags: ['repository'] } }).use(gate(context)).post(
    '/repos/:owner/:repo/generate',
    async ({ actor, repo, body, status }) => {
      const id = await generateRepository(context, { actor, template: repo, option: body })
      return status(201, presentRepository(await getShownRepository(context, actor, id), viewerOf(context, actor)))
    },
    {
      changeRepo: { unit: 'repo.code', level: 'read', scope: 'repository', evenArchived: true },
      body: GenerateRepoOption,
      response: { 201: Repository },
      detail: {
        operationId: 'generateRepo',
        summary: 'Make a repository from a template',
        'x-parameters': { owner: 'template_owner', repo: 'template_repo' },
        'x-refuses': [409],
      },
    },
  )
