import { Elysia } from 'elysia'
import type { UserRow } from '../../../db/schema/users.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { viewerOf } from '../../http/viewer.ts'
import { presentRepository, Repository } from '../../wire/repository.ts'
import { getShownRepository } from '../repositories/load.ts'
import { createRepository } from './create.ts'
import { CreateRepoOption } from './schema.ts'

interface Wanted {
  actor: Actor
  owner: UserRow
  body: CreateRepoOption
}

async function create(context: Context, { actor, owner, body }: Wanted): Promise<Repository> {
  const id = await createRepository(context, { actor, owner, option: body })
  return presentRepository(await getShownRepository(context, actor, id), viewerOf(context, actor))
}

const REFUSES = [409]

/** The four ways to make a repository. */
export const repositoryCreationRoutes = (context: Context) =>
  new Elysia({ name: 'repository-creation' })
    .use(gate(context))
    .post(
      '/user/repos',
      async ({ actor, body, status }) => status(201, await create(context, { actor, owner: actor.user, body })),
      {
        login: { scope: ['user', 'repository'] },
        body: CreateRepoOption,
        response: { 201: Repository },
        detail: {
          operationId: 'createCurrentUserRepo',
          summary: 'Create a repository of your own',
          tags: ['repository'],
          'x-refuses': REFUSES,
        },
      },
    )
    .post(
      '/admin/users/:username/repos',
      async ({ actor, account, body, status }) =>
        status(201, await create(context, { actor, owner: account.row, body })),
      {
        adminOf: true,
        body: CreateRepoOption,
        response: { 201: Repository },
        detail: {
          operationId: 'adminCreateRepo',
          summary: 'Create a repository on behalf of a user',
          tags: ['admin'],
          'x-refuses': REFUSES,
        },
      },
    )
    .post(
      '/orgs/:org/repos',
      async ({ actor, org, body, status }) => status(201, await create(context, { actor, owner: org.row, body })),
      {
        changeOrg: { scope: 'organization', role: 'creator' },
        body: CreateRepoOption,
        response: { 201: Repository },
        detail: {
          operationId: 'createOrgRepo',
          summary: 'Create a repository in an organization',
          tags: ['organization'],
          'x-refuses': REFUSES,
        },
      },
    )
    .post(
      '/org/:org/repos',
      async ({ actor, org, body, status }) => status(201, await create(context, { actor, owner: org.row, body })),
      {
        changeOrg: { scope: ['organization', 'repository'], role: 'creator', isTerse: true },
        body: CreateRepoOption,
        response: { 201: Repository },
        detail: {
          operationId: 'createOrgRepoDeprecated',
          summary: 'Create a repository in an organization; use /orgs/{org}/repos',
          tags: ['organization'],
          deprecated: true,
          'x-refuses': REFUSES,
        },
      },
    )
