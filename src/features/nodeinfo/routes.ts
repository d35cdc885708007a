import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { version } from '../../version.ts'
import { NodeInfo } from './schema.ts'
import { createUsage } from './usage.ts'

/** The document of NodeInfo 2.1 (nodeinfo.diaspora.software). */
export const nodeInfoRoutes = (context: Context) => {
  const usage = createUsage(context)
  return new Elysia({ name: 'nodeinfo', detail: { tags: ['miscellaneous'] } }).use(gate(context)).get(
    '/nodeinfo',
    async () => ({
      version: '2.1',
      // There is no public home of the program; the service's own address is where its description is.
      software: { name: 'hearth', version, repository: context.baseUrl, homepage: context.baseUrl },
      protocols: [],
      services: { inbound: [], outbound: [] },
      openRegistrations: context.config.allowRegistration,
      usage: await usage(),
      metadata: {},
    }),
    {
      open: {},
      response: { 200: NodeInfo },
      detail: { operationId: 'getNodeInfo', summary: 'What this service is and how much it is used' },
    },
  )
}

const Discovery = t.Object({ links: t.Array(t.Object({ href: t.String(), rel: t.String() })) })

/** Where programs look first; at the root of the host. */
export const nodeInfoDiscovery = (context: Context) =>
  new Elysia({ name: 'nodeinfo-discovery', detail: { hide: true } }).use(gate(context)).get(
    '/.well-known/nodeinfo',
    () => ({
      links: [{ href: `${context.baseUrl}/api/v1/nodeinfo`, rel: 'http://nodeinfo.diaspora.software/ns/schema/2.1' }],
    }),
    { open: { beforeSignIn: true }, response: { 200: Discovery }, detail: { hide: true } },
  )
