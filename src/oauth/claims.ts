import { and, asc, eq } from 'drizzle-orm'
import { teamMembers, teams } from '../../db/schema/organizations.ts'
import { emails, type UserRow, users } from '../../db/schema/users.ts'
import type { Context } from '../context.ts'
import { avatarUrl } from '../wire/user.ts'

/** OpenID Connect Core, 5.1, and the groups. */
export interface Claims {
  sub: string
  name?: string
  preferred_username?: string
  profile?: string
  picture?: string
  website?: string
  locale?: string
  updated_at?: number
  email?: string
  email_verified?: boolean
  groups?: string[]
}

/** Which claims each scope gives (OpenID Connect Core, 5.4). */
export async function claimsOf(context: Context, user: UserRow, scopes: readonly string[]): Promise<Claims> {
  const has = (word: string) => scopes.includes(word)
  return {
    sub: String(user.id),
    ...(has('profile') ? profileOf(context, user) : {}),
    ...(has('email') ? { email: user.email, email_verified: await isVerified(context, user) } : {}),
    ...(has('groups') ? { groups: await groupsOf(context, user, has('public-only')) } : {}),
  }
}

function profileOf({ baseUrl }: Context, user: UserRow): Partial<Claims> {
  return {
    name: user.fullName || user.name,
    preferred_username: user.name,
    profile: `${baseUrl}/${user.name}`,
    picture: avatarUrl(user, baseUrl),
    ...(user.website === '' ? {} : { website: user.website }),
    ...(user.language === '' ? {} : { locale: user.language }),
    updated_at: Math.floor(user.updatedAt.getTime() / 1000),
  }
}

async function isVerified({ db }: Context, { id }: UserRow): Promise<boolean> {
  const [primary] = await db
    .select({ isProven: emails.isProven })
    .from(emails)
    .where(and(eq(emails.userId, id), eq(emails.isPrimary, true)))
  return primary?.isProven ?? false
}

/** Organizations and, behind a colon, the teams in them that the person belongs to. */
async function groupsOf({ db }: Context, { id }: UserRow, publicOnly: boolean): Promise<string[]> {
  const rows = await db
    .select({ organization: users.name, team: teams.lowerName })
    .from(teamMembers)
    .innerJoin(teams, eq(teams.id, teamMembers.teamId))
    .innerJoin(users, eq(users.id, teams.organizationId))
    .where(and(eq(teamMembers.userId, id), publicOnly ? eq(users.visibility, 'public') : undefined))
    .orderBy(asc(users.lowerName), asc(teams.lowerName))
  return [...new Set(rows.flatMap(({ organization, team }) => [organization, `${organization}:${team}`]))]
}
