import { t } from 'elysia'
import type { UserRow } from '../../db/schema/users.ts'
import { sha256Hex } from '../kernel/hashing.ts'
import { EPOCH_TIME, wireTime, wireTimeOr, ZERO_TIME } from '../kernel/time.ts'
import { int64 } from './fields.ts'
import type { Viewer } from './viewer.ts'

export type User = typeof User.static
export const User = t.Object(
  {
    id: int64(),
    login: t.String(),
    login_name: t.String(),
    source_id: int64(),
    full_name: t.String(),
    email: t.String(),
    avatar_url: t.String(),
    html_url: t.String(),
    language: t.String(),
    is_admin: t.Boolean(),
    last_login: t.String({ format: 'date-time' }),
    created: t.String({ format: 'date-time' }),
    restricted: t.Boolean(),
    active: t.Boolean(),
    prohibit_login: t.Boolean(),
    location: t.String(),
    website: t.String(),
    description: t.String(),
    visibility: t.String(),
    followers_count: int64(),
    following_count: int64(),
    starred_repos_count: int64(),
    username: t.String(),
  },
  { $id: 'User' },
)

/** Wire: the person themself and administrators see the state of the account; all others see what is public of it. */
export function presentUser(user: UserRow, viewer: Viewer): User {
  return viewer.isAdmin || viewer.userId === user.id
    ? presentPrivately(user, viewer)
    : presentUserPublicly(user, viewer)
}

/** The outsider's view, which is also what is nested in repositories, whoever looks. */
export function presentUserPublicly(user: UserRow, viewer: Viewer): User {
  return {
    id: user.id,
    login: user.name,
    login_name: '',
    source_id: 0,
    full_name: user.fullName,
    email: shownEmail(user, viewer),
    avatar_url: avatarUrl(user, viewer.baseUrl),
    html_url: `${viewer.baseUrl}/${user.name}`,
    language: '',
    is_admin: false,
    last_login: ZERO_TIME,
    created: wireTime(user.createdAt),
    restricted: false,
    active: false,
    prohibit_login: false,
    location: user.location,
    website: user.website,
    description: user.description,
    visibility: user.visibility,
    followers_count: user.followersCount,
    following_count: user.followingCount,
    starred_repos_count: user.starsCount,
    username: user.name,
  }
}

/** As somebody who is not signed in sees it: nested in issues and comments, whoever looks. */
export const presentUserToVisitors = (user: UserRow, viewer: Viewer): User =>
  presentUserPublicly(user, { ...viewer, userId: undefined, isAdmin: false })

/** The author of something; the ghost where the account is gone. */
export const presentAuthor = (user: UserRow | undefined, viewer: Viewer): User =>
  user ? presentUser(user, viewer) : presentGhost(viewer)

/** Wire: what an account that was deleted wrote belongs to the user Ghost with the number -1. */
export const presentGhost = (viewer: Viewer): User => ({
  id: -1,
  login: 'Ghost',
  login_name: '',
  source_id: 0,
  full_name: '',
  email: '',
  avatar_url: drawnAvatarUrl('ghost', viewer.baseUrl),
  html_url: `${viewer.baseUrl}/Ghost`,
  language: '',
  is_admin: false,
  last_login: ZERO_TIME,
  created: ZERO_TIME,
  restricted: false,
  active: false,
  prohibit_login: false,
  location: '',
  website: '',
  description: '',
  visibility: 'public',
  followers_count: 0,
  following_count: 0,
  starred_repos_count: 0,
  username: 'Ghost',
})

function presentPrivately(user: UserRow, viewer: Viewer): User {
  return {
    ...presentUserPublicly(user, viewer),
    login_name: user.loginName,
    source_id: user.sourceId ?? 0,
    email: user.email,
    language: user.language,
    is_admin: user.isAdmin,
    // Wire: a password that comes with a request of the API is no login; only a sign-in on a page is.
    last_login: wireTimeOr(user.lastLoginAt, EPOCH_TIME),
    restricted: user.isRestricted,
    active: user.isActive,
    prohibit_login: user.prohibitLogin,
  }
}

/** Visitors never see an address, and nobody else does where its owner keeps it private. */
function shownEmail(user: UserRow, viewer: Viewer): string {
  if (user.kind === 'organization') return viewer.userId === undefined ? '' : user.email
  if (viewer.userId === undefined || (user.keepEmailPrivate && viewer.userId !== user.id))
    return noreplyAddress(user, viewer)
  return user.email
}

/** The address that stands for a person whose own is hidden, in answers and in commits made here. */
export const noreplyAddress = (
  user: { id: number; name: string },
  { noreplyDomain }: { noreplyDomain: string },
): string => `${user.id}+${user.name.toLowerCase()}@${noreplyDomain}`

/**
 * Whom such an address stands for: `<id>+<name>@domain`; the id counts, since names change. Wire: older commits have the name alone.
 * Undefined for any other address. Addresses and names in lower case.
 */
export function readNoreplyAddress(
  address: string,
  domain: string,
): { id: number | undefined; name: string } | undefined {
  if (!address.endsWith(`@${domain.toLowerCase()}`)) return undefined
  const local = address.slice(0, address.lastIndexOf('@'))
  const [, id, name = ''] = /^(?:(\d{1,15})\+)?(.+)$/.exec(local) ?? []
  return { id: id === undefined ? undefined : Number(id), name }
}

/** Either the uploaded picture or a drawn one. Clients expect a hash at the end of the address. */
export const avatarUrl = (user: { id: number; avatar: string }, baseUrl: string): string =>
  user.avatar === '' ? drawnAvatarUrl(`u${user.id}`, baseUrl) : `${baseUrl}/avatars/${user.avatar}`

/** Half as long as the hash of an uploaded picture, so that the two differ. */
const drawnAvatarUrl = (seed: string, baseUrl: string): string => `${baseUrl}/avatars/${sha256Hex(seed).slice(0, 32)}`
