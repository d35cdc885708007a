import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { accessTokenRoutes } from '../features/access-tokens/routes.ts'
import { adminUserRoutes } from '../features/admin-users/routes.ts'
import { auditLogRoutes } from '../features/audit-log/routes.ts'
import { ownAvatarRoutes } from '../features/avatars/routes.ts'
import { badgeRoutes, userBadgeRoutes } from '../features/badges/routes.ts'
import { blockRoutes } from '../features/blocks/routes.ts'
import { branchRoutes } from '../features/branches/routes.ts'
import { commentRoutes } from '../features/comments/routes.ts'
import { adminEmailRoutes, emailRoutes } from '../features/emails/routes.ts'
import { followRoutes } from '../features/follows/routes.ts'
import { heatmapRoutes } from '../features/heatmap/routes.ts'
import { issueRoutes } from '../features/issues/routes.ts'
import { labelRoutes } from '../features/labels/routes.ts'
import { milestoneRoutes } from '../features/milestones/routes.ts'
import { organizationMemberRoutes } from '../features/organizations/member-routes.ts'
import { organizationRoutes } from '../features/organizations/routes.ts'
import { userOrganizationRoutes } from '../features/organizations/user-routes.ts'
import { publicKeyRoutes } from '../features/public-keys/routes.ts'
import { repositoryCreationRoutes } from '../features/repositories/create-routes.ts'
import { repositoryListRoutes } from '../features/repositories/list-routes.ts'
import { repositoryRoutes } from '../features/repositories/routes.ts'
import { twoFactorRoutes } from '../features/two-factor/routes.ts'
import { userSettingsRoutes } from '../features/user-settings/routes.ts'
import { userRoutes } from '../features/users/routes.ts'
import { versionRoutes } from '../features/version/routes.ts'

/** The features below `/api/v1`, one instance each, so that the types stay quick to check. */
export const api = (context: Context) =>
  new Elysia({ name: 'api', prefix: '/api/v1' })
    .use(versionRoutes(context))
    .use(userRoutes(context))
    .use(labelRoutes(context))
    .use(milestoneRoutes(context))
    .use(issueRoutes(context))
    .use(commentRoutes(context))
    .use(accessTokenRoutes(context))
    .use(adminUserRoutes(context))
    .use(userSettingsRoutes(context))
    .use(emailRoutes(context))
    .use(adminEmailRoutes(context))
    .use(publicKeyRoutes(context))
    .use(followRoutes(context))
    .use(blockRoutes(context))
    .use(ownAvatarRoutes(context))
    .use(heatmapRoutes(context))
    .use(userBadgeRoutes(context))
    .use(badgeRoutes(context))
    .use(twoFactorRoutes(context))
    .use(auditLogRoutes(context))
    .use(repositoryCreationRoutes(context))
    .use(repositoryRoutes(context))
    .use(repositoryListRoutes(context))
    .use(branchRoutes(context))
    .use(organizationRoutes(context))
    .use(organizationMemberRoutes(context))
    .use(userOrganizationRoutes(context))
