import { and, desc, eq } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { type OAuthApplicationRow, type OAuthGrantRow, oauthApplications, oauthGrants } from '../../db/schema/oauth.ts'
import { users } from '../../db/schema/users.ts'
import { recordAudit } from '../audit/record.ts'
import type { Actor } from '../auth/actor.ts'
import type { Context } from '../context.ts'
import { notFound } from '../kernel/errors.ts'
import { numberedPage, type Page, type Paged } from '../kernel/page.ts'

/** An application that a person has allowed, and who registered it. */
export interface AllowedApplication {
  grant: OAuthGrantRow
  application: OAuthApplicationRow
  /** Null for a built-in one. */
  ownerName: string | null
}

/** What a person has allowed, the newest first. */
export async function listGrants(db: Db, userId: number, page: Page): Promise<Paged<AllowedApplication>> {
  const own = eq(oauthGrants.userId, userId)
  const newestFirst = db
    .select({ grant: oauthGrants, application: oauthApplications, ownerName: users.name })
    .from(oauthGrants)
    .innerJoin(oauthApplications, eq(oauthApplications.id, oauthGrants.applicationId))
    .leftJoin(users, eq(users.id, oauthApplications.ownerId))
    .where(own)
    .orderBy(desc(oauthGrants.id))
  const [rows, total] = await Promise.all([
    newestFirst.limit(page.limit).offset(page.offset),
    db.$count(oauthGrants, own),
  ])
  return numberedPage(page, { rows, total })
}

/**
 * Takes back what was allowed. All codes and tokens of it end with the commit.
 * @throws Refusal 404 for a grant that this person has not given, or not to this application
 */
export async function revokeGrant(
  { db }: Context,
  actor: Actor,
  { id, applicationId }: { id: number | undefined; applicationId: number | undefined },
): Promise<void> {
  if (id === undefined || applicationId === undefined) throw notFound()
  await db.transaction(async (tx) => {
    const [gone] = await tx
      .delete(oauthGrants)
      .where(
        and(
          eq(oauthGrants.id, id),
          eq(oauthGrants.applicationId, applicationId),
          eq(oauthGrants.userId, actor.user.id),
        ),
      )
      .returning()
    if (!gone) throw notFound()
    const [application] = await tx
      .select({ name: oauthApplications.name })
      .from(oauthApplications)
      .where(eq(oauthApplications.id, applicationId))
    await recordAudit(tx, actor, {
      action: 'oauth_grant.revoke',
      subject: { kind: 'oauth_grant', id, name: application?.name ?? '' },
      before: { scopes: gone.scopes },
    })
  })
}
