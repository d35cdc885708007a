import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import type { OrganizationAccess } from '../../http/organization-gate.ts'
import { described, valueOperations } from './shared-routes.ts'

const owner = { scope: 'organization', role: 'owner' } as const
const of = ({ row }: OrganizationAccess) => ({ ownerId: row.id })

/** What jobs of all repositories of an organization read. */
export const organizationActionsValueRoutes = (context: Context) => {
  const values = valueOperations(context)
  return new Elysia({
    name: 'organization-actions-values',
    prefix: '/orgs/:org/actions',
    detail: { tags: ['organization'] },
  })
    .use(gate(context))
    .get('/secrets', ({ org, query, request, set }) => values.listSecrets(of(org), { query, request, set }), {
      readOrg: owner,
      ...described.listSecrets('orgListActionsSecrets'),
    })
    .put(
      '/secrets/:secretname',
      ({ actor, org, params, body, set }) => values.putSecret(of(org), { actor, name: params.secretname, body, set }),
      { changeOrg: owner, ...described.putSecret('updateOrgSecret') },
    )
    .delete(
      '/secrets/:secretname',
      ({ actor, org, params, set }) => values.deleteSecret(of(org), { actor, name: params.secretname, set }),
      { changeOrg: owner, ...described.deleteSecret('deleteOrgSecret') },
    )
    .get('/variables', ({ org, query, request, set }) => values.listVariables(of(org), { query, request, set }), {
      readOrg: owner,
      ...described.listVariables('getOrgVariablesList'),
    })
    .get('/variables/:variablename', ({ org, params }) => values.getVariable(of(org), params.variablename), {
      readOrg: owner,
      ...described.getVariable('getOrgVariable'),
    })
    .post(
      '/variables/:variablename',
      ({ actor, org, params, body, set }) =>
        values.createVariable(of(org), { actor, name: params.variablename, body, set }),
      { changeOrg: owner, ...described.createVariable('createOrgVariable') },
    )
    .put(
      '/variables/:variablename',
      ({ actor, org, params, body, set }) =>
        values.editVariable(of(org), { actor, name: params.variablename, body, set }),
      { changeOrg: owner, ...described.editVariable('updateOrgVariable') },
    )
    .delete(
      '/variables/:variablename',
      ({ actor, org, params, set }) => values.deleteVariable(of(org), { actor, name: params.variablename, set }),
      { changeOrg: owner, ...described.deleteVariable('deleteOrgVariable') },
    )
}
