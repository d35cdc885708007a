import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { parseId } from '../../kernel/ids.ts'
import { presentTagProtection, TagProtection } from '../../wire/tag-protection.ts'
import { CreateTagProtectionOption, EditTagProtectionOption } from './schema.ts'
import { createTagRule, deleteTagRule, editTagRule, getTagRule, listTagRules } from './tag-service.ts'

const administer = { level: 'admin', scope: 'repository' } as const

/** Rules for tags. They are read by those only who may change them. */
export const tagProtectionRoutes = (context: Context) =>
  new Elysia({
    name: 'tag-protections',
    prefix: '/repos/:owner/:repo/tag_protections',
    detail: { tags: ['repository'] },
  })
    .use(gate(context))
    .get('', async ({ repo }) => (await listTagRules(context, repo)).map(presentTagProtection), {
      changeRepo: administer,
      response: { 200: t.Array(TagProtection) },
      detail: { operationId: 'repoListTagProtection', summary: 'List the rules for tags' },
    })
    .post(
      '',
      async ({ actor, repo, body, status }) =>
        status(201, presentTagProtection(await createTagRule(context, { actor, repo }, body))),
      {
        changeRepo: administer,
        body: CreateTagProtectionOption,
        response: { 201: TagProtection },
        detail: { operationId: 'repoCreateTagProtection', summary: 'Protect tags', 'x-refuses': [400] },
      },
    )
    .get(
      '/:id',
      async ({ repo, params }) => presentTagProtection(await getTagRule(context, repo, parseId(params.id))),
      {
        changeRepo: administer,
        response: { 200: TagProtection },
        detail: { operationId: 'repoGetTagProtection', summary: 'A rule for tags' },
      },
    )
    .patch(
      '/:id',
      async ({ actor, repo, params, body }) => {
        const id = parseId(params.id)
        return presentTagProtection(await editTagRule(context, { actor, repo }, { id, option: body }))
      },
      {
        changeRepo: administer,
        body: EditTagProtectionOption,
        response: { 200: TagProtection },
        detail: { operationId: 'repoEditTagProtection', summary: 'Change a rule for tags' },
      },
    )
    .delete(
      '/:id',
      async ({ actor, repo, params, set }) => {
        await deleteTagRule(context, { actor, repo }, parseId(params.id))
        set.status = 204
      },
      {
        // Wire: also while the repository is archived.
        changeRepo: { ...administer, evenArchived: true },
        response: { 204: t.Void() },
        detail: { operationId: 'repoDeleteTagProtection', summary: 'Delete a rule for tags' },
      },
    )
