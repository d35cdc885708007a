import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { decodeWildcard } from '../../http/wildcard.ts'
import { BranchProtection, presentBranchProtection } from '../../wire/branch-protection.ts'
import { createRule, deleteRule, editRule, getRule, listRules, orderRules } from './branch-service.ts'
import { CreateBranchProtectionOption, EditBranchProtectionOption, UpdateBranchProtectionPriories } from './schema.ts'

const administer = { level: 'admin', scope: 'repository' } as const
const named = { 'x-parameters': { '*': 'name' } } as const

/** Rules for branches. They are read by those only who may change them. */
export const branchProtectionRoutes = (context: Context) =>
  new Elysia({
    name: 'branch-protections',
    prefix: '/repos/:owner/:repo/branch_protections',
    detail: { tags: ['repository'] },
  })
    .use(gate(context))
    .get('', async ({ repo }) => (await listRules(context, repo)).map(presentBranchProtection), {
      changeRepo: administer,
      response: { 200: t.Array(BranchProtection) },
      detail: { operationId: 'repoListBranchProtection', summary: 'List the rules for branches' },
    })
    .post(
      '',
      async ({ actor, repo, body, status }) =>
        status(201, presentBranchProtection(await createRule(context, { actor, repo }, body))),
      {
        changeRepo: administer,
        body: CreateBranchProtectionOption,
        response: { 201: BranchProtection },
        detail: { operationId: 'repoCreateBranchProtection', summary: 'Protect branches', 'x-refuses': [400] },
      },
    )
    .post(
      '/priority',
      async ({ actor, repo, body, set }) => {
        await orderRules(context, { actor, repo }, body.ids ?? [])
        set.status = 204
      },
      {
        changeRepo: administer,
        body: UpdateBranchProtectionPriories,
        response: { 204: t.Void() },
        detail: {
          operationId: 'repoUpdateBranchProtectionPriories',
          summary: 'Put the rules for branches in another order',
        },
      },
    )
    .get(
      '/*',
      async ({ repo, params }) => presentBranchProtection(await getRule(context, repo, decodeWildcard(params))),
      {
        changeRepo: administer,
        response: { 200: BranchProtection },
        detail: { operationId: 'repoGetBranchProtection', summary: 'A rule for branches', ...named },
      },
    )
    .patch(
      '/*',
      async ({ actor, repo, params, body }) => {
        const name = decodeWildcard(params)
        return presentBranchProtection(await editRule(context, { actor, repo }, { name, option: body }))
      },
      {
        changeRepo: administer,
        body: EditBranchProtectionOption,
        response: { 200: BranchProtection },
        detail: { operationId: 'repoEditBranchProtection', summary: 'Change a rule for branches', ...named },
      },
    )
    .delete(
      '/*',
      async ({ actor, repo, params, set }) => {
        await deleteRule(context, { actor, repo }, decodeWildcard(params))
        set.status = 204
      },
      {
        changeRepo: administer,
        response: { 204: t.Void() },
        detail: { operationId: 'repoDeleteBranchProtection', summary: 'Delete a rule for branches', ...named },
      },
    )
