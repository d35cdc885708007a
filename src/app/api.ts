import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { accessTokenRoutes } from '../features/access-tokens/routes.ts'
import { artifactRoutes } from '../features/actions-artifacts/routes.ts'
import { adminRunnerRoutes } from '../features/actions-runners/admin-routes.ts'
import { organizationRunnerRoutes } from '../features/actions-runners/organization-routes.ts'
import { repositoryRunnerRoutes } from '../features/actions-runners/repository-routes.ts'
import { userRunnerRoutes } from '../features/actions-runners/user-routes.ts'
import {
  adminRunListRoutes,
  organizationRunListRoutes,
  userRunListRoutes,
} from '../features/actions-runs/list-routes.ts'
import { logStreamRoutes } from '../features/actions-runs/log-stream-routes.ts'
import { actionsRunRoutes } from '../features/actions-runs/routes.ts'
import { actionsSteeringRoutes } from '../features/actions-runs/steering-routes.ts'
import { organizationActionsValueRoutes } from '../features/actions-values/organization-routes.ts'
import { repositoryActionsValueRoutes } from '../features/actions-values/repository-routes.ts'
import { userActionsValueRoutes } from '../features/actions-values/user-routes.ts'
import { actionsWorkflowRoutes } from '../features/actions-workflows/routes.ts'
import { activityRoutes } from '../features/activity/routes.ts'
import { cronRoutes } from '../features/admin/cron-routes.ts'
import { unadoptedRoutes } from '../features/admin/unadopted-routes.ts'
import { adminUserRoutes } from '../features/admin-users/routes.ts'
import { archiveRoutes } from '../features/archives/routes.ts'
import { auditLogRoutes } from '../features/audit-log/routes.ts'
import { organizationAvatarRoutes } from '../features/avatars/organization-routes.ts'
import { ownAvatarRoutes } from '../features/avatars/routes.ts'
import { badgeRoutes, userBadgeRoutes } from '../features/badges/routes.ts'
import { organizationBlockRoutes } from '../features/blocks/organization-routes.ts'
import { blockRoutes } from '../features/blocks/routes.ts'
import { branchRoutes } from '../features/branches/routes.ts'
import { collaboratorRoutes } from '../features/collaborators/routes.ts'
import { teamRepositoryRoutes } from '../features/collaborators/team-repository-routes.ts'
import { repositoryTeamRoutes } from '../features/collaborators/team-routes.ts'
import { commentAssetRoutes } from '../features/comments/asset-routes.ts'
import { commentRoutes } from '../features/comments/routes.ts'
import { timelineRoutes } from '../features/comments/timeline-routes.ts'
import { gitObjectRoutes } from '../features/commits/object-routes.ts'
import { commitRoutes } from '../features/commits/routes.ts'
import { contentsRoutes } from '../features/contents/routes.ts'
import { contentsWriteRoutes, patchRoutes } from '../features/contents/write-routes.ts'
import { deployKeyRoutes } from '../features/deploy-keys/routes.ts'
import { editorConfigRoutes } from '../features/editorconfig/routes.ts'
import { adminEmailRoutes, emailRoutes } from '../features/emails/routes.ts'
import { followRoutes } from '../features/follows/routes.ts'
import { forkRoutes } from '../features/forks/routes.ts'
import { generationRoutes } from '../features/generation/routes.ts'
import { gitHookRoutes } from '../features/git-hooks/routes.ts'
import { gpgKeyRoutes } from '../features/gpg-keys/routes.ts'
import { heatmapRoutes } from '../features/heatmap/routes.ts'
import { issueDeadlineRoutes } from '../features/issue-deadlines/routes.ts'
import { issueDependencyRoutes } from '../features/issue-dependencies/routes.ts'
import { issueLabelRoutes } from '../features/issue-labels/routes.ts'
import { issueLockRoutes } from '../features/issue-locks/routes.ts'
import { issuePinRoutes, pinnedRoutes } from '../features/issue-pins/routes.ts'
import { issueSearchRoutes } from '../features/issue-search/routes.ts'
import { issueSubscriptionRoutes } from '../features/issue-subscriptions/routes.ts'
import { issueTemplateRoutes } from '../features/issue-templates/routes.ts'
import { issueAssetRoutes } from '../features/issues/asset-routes.ts'
import { issueRoutes } from '../features/issues/routes.ts'
import { organizationLabelRoutes } from '../features/labels/organization-routes.ts'
import { labelRoutes } from '../features/labels/routes.ts'
import { migrationRoutes } from '../features/migrations/routes.ts'
import { milestoneRoutes } from '../features/milestones/routes.ts'
import { pushMirrorRoutes } from '../features/mirrors/push-mirror-routes.ts'
import { mirrorRoutes } from '../features/mirrors/routes.ts'
import { nodeInfoRoutes } from '../features/nodeinfo/routes.ts'
import { notificationRoutes } from '../features/notifications/routes.ts'
import { oauthApplicationRoutes } from '../features/oauth-applications/routes.ts'
import { organizationMemberRoutes } from '../features/organizations/member-routes.ts'
import { organizationRoutes } from '../features/organizations/routes.ts'
import { userOrganizationRoutes } from '../features/organizations/user-routes.ts'
import { branchProtectionRoutes } from '../features/protections/branch-routes.ts'
import { tagProtectionRoutes } from '../features/protections/tag-routes.ts'
import { publicKeyRoutes } from '../features/public-keys/routes.ts'
import { rawRoutes } from '../features/raw/routes.ts'
import { commentReactionRoutes, issueReactionRoutes } from '../features/reactions/routes.ts'
import { releaseAssetRoutes } from '../features/releases/asset-routes.ts'
import { releaseRoutes } from '../features/releases/routes.ts'
import { renderingRoutes, repositoryRenderingRoutes } from '../features/rendering/routes.ts'
import { repositoryAvatarRoutes } from '../features/repositories/avatar-routes.ts'
import { repositoryRoutes } from '../features/repositories/routes.ts'
import { repositoryCreationRoutes } from '../features/repository-creation/routes.ts'
import { repositoryListRoutes } from '../features/repository-search/routes.ts'
import { signingKeyRoutes } from '../features/signing-keys/routes.ts'
import { siteSettingsRoutes } from '../features/site-settings/routes.ts'
import { starRoutes } from '../features/stars/routes.ts'
import { statusRoutes } from '../features/statuses/routes.ts'
import { tagRoutes } from '../features/tags/routes.ts'
import { teamListRoutes } from '../features/teams/list-routes.ts'
import { teamMemberRoutes } from '../features/teams/member-routes.ts'
import { teamRoutes } from '../features/teams/routes.ts'
import { templateRoutes } from '../features/templates/routes.ts'
import { issueTimeRoutes, repositoryTimeRoutes } from '../features/time-tracking/routes.ts'
import { stopwatchRoutes } from '../features/time-tracking/stopwatch-routes.ts'
import { ownTimeRoutes } from '../features/time-tracking/user-routes.ts'
import { topicRoutes } from '../features/topics/routes.ts'
import { transferRoutes } from '../features/transfers/routes.ts'
import { twoFactorRoutes } from '../features/two-factor/routes.ts'
import { passwordRoutes, userSettingsRoutes } from '../features/user-settings/routes.ts'
import { userRoutes } from '../features/users/routes.ts'
import { versionRoutes } from '../features/version/routes.ts'
import { watchRoutes } from '../features/watches/routes.ts'
import { wikiRoutes } from '../features/wikis/routes.ts'
import { organizationDeliveryRoutes, userDeliveryRoutes } from '../webhooks/owner-delivery-routes.ts'
import { organizationHookRoutes, userHookRoutes } from '../webhooks/owner-routes.ts'
import { repositoryDeliveryRoutes } from '../webhooks/repository-delivery-routes.ts'
import { repositoryHookRoutes } from '../webhooks/repository-routes.ts'
import { siteDeliveryRoutes } from '../webhooks/site-delivery-routes.ts'
import { siteHookRoutes } from '../webhooks/site-routes.ts'

/** The service itself, its texts and its rendering. */
const siteApi = (context: Context) =>
  new Elysia({ name: 'siteApi' })
    .use(nodeInfoRoutes(context))
    .use(renderingRoutes(context))
    .use(repositoryRenderingRoutes(context))
    .use(templateRoutes(context))
    .use(siteSettingsRoutes(context))
    .use(signingKeyRoutes(context))

/** Accounts and what people do with their own. */
const accountApi = (context: Context) =>
  new Elysia({ name: 'accountApi' })
    .use(userRoutes(context))
    .use(accessTokenRoutes(context))
    .use(oauthApplicationRoutes(context))
    .use(userSettingsRoutes(context))
    .use(passwordRoutes(context))
    .use(emailRoutes(context))
    .use(publicKeyRoutes(context))
    .use(gpgKeyRoutes(context))
    .use(followRoutes(context))
    .use(blockRoutes(context))
    .use(ownAvatarRoutes(context))
    .use(heatmapRoutes(context))
    .use(activityRoutes(context))
    .use(twoFactorRoutes(context))

/** Issues and what belongs to them. */
const issueApi = (context: Context) =>
  new Elysia({ name: 'issueApi' })
    .use(labelRoutes(context))
    .use(milestoneRoutes(context))
    .use(issueRoutes(context))
    .use(issueSearchRoutes(context))
    .use(issueSubscriptionRoutes(context))
    .use(notificationRoutes(context))
    .use(commentRoutes(context))

/** What hangs on one issue or comment. */
const issuePartApi = (context: Context) =>
  new Elysia({ name: 'issuePartApi' })
    .use(issueLabelRoutes(context))
    .use(issueAssetRoutes(context))
    .use(issueLockRoutes(context))
    .use(issuePinRoutes(context))
    .use(pinnedRoutes(context))
    .use(issueDeadlineRoutes(context))
    .use(commentAssetRoutes(context))
    .use(issueDependencyRoutes(context))
    .use(timelineRoutes(context))
    .use(issueTimeRoutes(context))
    .use(stopwatchRoutes(context))
    .use(repositoryTimeRoutes(context))
    .use(ownTimeRoutes(context))
    .use(issueReactionRoutes(context))
    .use(commentReactionRoutes(context))

/** Repositories. */
const repositoryApi = (context: Context) =>
  new Elysia({ name: 'repositoryApi' })
    .use(repositoryCreationRoutes(context))
    .use(repositoryRoutes(context))
    .use(repositoryListRoutes(context))
    .use(repositoryAvatarRoutes(context))
    .use(topicRoutes(context))
    .use(starRoutes(context))
    .use(watchRoutes(context))
    .use(branchRoutes(context))
    .use(branchProtectionRoutes(context))
    .use(tagRoutes(context))
    .use(tagProtectionRoutes(context))
    .use(releaseRoutes(context))
    .use(releaseAssetRoutes(context))
    .use(deployKeyRoutes(context))

/** What Git repositories hold. */
const contentApi = (context: Context) =>
  new Elysia({ name: 'contentApi' })
    .use(commitRoutes(context))
    .use(statusRoutes(context))
    .use(gitObjectRoutes(context))
    .use(contentsRoutes(context))
    .use(contentsWriteRoutes(context))
    .use(patchRoutes(context))
    .use(editorConfigRoutes(context))
    .use(issueTemplateRoutes(context))
    .use(rawRoutes(context))
    .use(archiveRoutes(context))
    .use(wikiRoutes(context))

/** Organizations and teams. */
const organizationApi = (context: Context) =>
  new Elysia({ name: 'organizationApi' })
    .use(organizationRoutes(context))
    .use(organizationMemberRoutes(context))
    .use(userOrganizationRoutes(context))
    .use(organizationAvatarRoutes(context))
    .use(organizationBlockRoutes(context))
    .use(organizationLabelRoutes(context))
    .use(teamListRoutes(context))
    .use(teamRoutes(context))
    .use(teamMemberRoutes(context))
    .use(teamRepositoryRoutes(context))
    .use(repositoryTeamRoutes(context))
    .use(collaboratorRoutes(context))

/** Repositories that come from others, or go to another owner. */
const copyApi = (context: Context) =>
  new Elysia({ name: 'copyApi' }).use(forkRoutes(context)).use(generationRoutes(context)).use(transferRoutes(context))

/** Repositories on other servers. */
const mirrorApi = (context: Context) =>
  new Elysia({ name: 'mirrorApi' })
    .use(migrationRoutes(context))
    .use(mirrorRoutes(context))
    .use(pushMirrorRoutes(context))

/** What concerns the site. */
const administrationApi = (context: Context) =>
  new Elysia({ name: 'administrationApi' })
    .use(versionRoutes(context))
    .use(adminUserRoutes(context))
    .use(cronRoutes(context))
    .use(unadoptedRoutes(context))
    .use(adminEmailRoutes(context))
    .use(userBadgeRoutes(context))
    .use(badgeRoutes(context))
    .use(auditLogRoutes(context))

/** What runs at events, where, and with which values. */
const actionsApi = (context: Context) =>
  new Elysia({ name: 'actionsApi' })
    .use(actionsRunRoutes(context))
    .use(logStreamRoutes(context))
    .use(actionsSteeringRoutes(context))
    .use(artifactRoutes(context))
    .use(actionsWorkflowRoutes(context))
    .use(organizationRunListRoutes(context))
    .use(userRunListRoutes(context))
    .use(adminRunListRoutes(context))
    .use(repositoryActionsValueRoutes(context))
    .use(organizationActionsValueRoutes(context))
    .use(userActionsValueRoutes(context))
    .use(repositoryRunnerRoutes(context))
    .use(organizationRunnerRoutes(context))
    .use(userRunnerRoutes(context))
    .use(adminRunnerRoutes(context))

/** Addresses that events are sent to. */
const hookApi = (context: Context) =>
  new Elysia({ name: 'hookApi' })
    .use(siteHookRoutes(context))
    .use(repositoryHookRoutes(context))
    .use(gitHookRoutes(context))
    .use(organizationHookRoutes(context))
    .use(userHookRoutes(context))
    .use(repositoryDeliveryRoutes(context))
    .use(organizationDeliveryRoutes(context))
    .use(userDeliveryRoutes(context))
    .use(siteDeliveryRoutes(context))

/**
 * The features below `/api/v1`, one instance each and in groups: the types stay quick to check, and a chain of more than about thirty is
 * too deep for the compiler.
 */
export const api = (context: Context) =>
  new Elysia({ name: 'api', prefix: '/api/v1' })
    .use(siteApi(context))
    .use(accountApi(context))
    .use(issueApi(context))
    .use(issuePartApi(context))
    .use(repositoryApi(context))
    .use(contentApi(context))
    .use(organizationApi(context))
    .use(administrationApi(context))
    .use(hookApi(context))
    .use(actionsApi(context))
    .use(copyApi(context))
    .use(mirrorApi(context))
