import { Elysia } from 'elysia'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { viewerOf } from '../../http/viewer.ts'
import { notFound } from '../../kernel/errors.ts'
import { presentRepository, Repository } from '../../wire/repository.ts'
import { loadRepository, withRelatives } from '../repositories/load.ts'
import { acceptTransfer, rejectTransfer } from './answer.ts'
import { TransferRepoOption } from './schema.ts'
import { startTransfer } from './start.ts'

/** Giving a repository to another owner. */
export const transferRoutes = (context: Context) => {
  const show = async (actor: Actor, id: number): Promise<Repository> => {
    const shown = await loadRepository(context, actor, id)
    if (!shown) throw notFound()
    return presentRepository(shown, viewerOf(context, actor))
  }
  return new Elysia({ name: 'transfers', prefix: '/repos/:owner/:repo/transfer', detail: { tags: ['repository'] } })
    .use(gate(context))
    .post(
      '',
      async ({ actor, repo, body, status }) => {
        const outcome = await startTransfer(context, { actor, repo, option: body })
        const shown = await show(actor, repo.repository.id)
        return outcome === 'moved' ? status(202, shown) : status(201, shown)
      },
      {
        changeRepo: { level: 'owner', scope: 'repository', evenArchived: true },
        body: TransferRepoOption,
        response: { 201: Repository, 202: Repository },
        detail: {
          operationId: 'repoTransfer',
          summary: 'Give a repository to another owner: at once (202), or when they accept (201)',
          'x-refuses': [409],
        },
      },
    )
    .post(
      '/accept',
      async ({ actor, repo, status }) => {
        await acceptTransfer(context, { actor, repo })
        return status(202, await show(actor, repo.repository.id))
      },
      {
        changeRepo: { level: 'read', scope: 'repository', evenArchived: true },
        response: { 202: Repository },
        detail: {
          operationId: 'acceptRepoTransfer',
          summary: 'Take a repository that is offered to you',
          'x-refuses': [409, 422],
        },
      },
    )
    .post(
      '/reject',
      async ({ actor, repo }) => {
        await rejectTransfer(context, { actor, repo })
        // Who has declined may not read it any more: this is what they saw last.
        const shown = await withRelatives(context, actor, { ...repo, isOffered: false })
        return presentRepository(shown, viewerOf(context, actor))
      },
      {
        changeRepo: { level: 'read', scope: 'repository', evenArchived: true },
        response: { 200: Repository },
        detail: { operationId: 'rejectRepoTransfer', summary: 'Decline a repository, or take the offer back' },
      },
    )
}
