import { t } from 'elysia'

const NodeInfoSoftware = t.Object(
  { name: t.String(), version: t.String(), repository: t.String(), homepage: t.String() },
  { $id: 'NodeInfoSoftware' },
)

const NodeInfoServices = t.Object(
  { inbound: t.Array(t.String()), outbound: t.Array(t.String()) },
  { $id: 'NodeInfoServices' },
)

const NodeInfoUsageUsers = t.Object(
  { total: t.Integer(), activeHalfyear: t.Integer(), activeMonth: t.Integer() },
  { $id: 'NodeInfoUsageUsers' },
)

export type NodeInfoUsage = typeof NodeInfoUsage.static
const NodeInfoUsage = t.Object(
  { users: NodeInfoUsageUsers, localPosts: t.Integer(), localComments: t.Integer() },
  { $id: 'NodeInfoUsage' },
)

export const NodeInfo = t.Object(
  {
    version: t.String(),
    software: NodeInfoSoftware,
    protocols: t.Array(t.String()),
    services: NodeInfoServices,
    openRegistrations: t.Boolean(),
    usage: NodeInfoUsage,
    metadata: t.Object({}),
  },
  { $id: 'NodeInfo' },
)
