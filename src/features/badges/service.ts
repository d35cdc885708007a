import type { BadgeRow, UserRow } from '../../../db/schema/users.ts'
import { violatedConstraint } from '../../../db/violations.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { conflict, invalid, notFound } from '../../kernel/errors.ts'
import { isWebsite } from '../../kernel/website.ts'
import type { CreateBadgeOption, EditBadgeOption } from './schema.ts'
import { findBadges, giveBadges, insertBadge, removeBadge, takeBadges, updateBadge } from './store.ts'

interface Change {
  user: UserRow
  by: Actor
  slugs: readonly string[]
}

/** @throws Refusal 404 for a badge that is not defined; then none is given */
export async function giveUserBadges({ db }: Context, { user, by, slugs }: Change): Promise<void> {
  await db.transaction(async (tx) => {
    const found = await findBadges(tx, slugs)
    const missing = slugs.find((slug) => !found.some((badge) => badge.slug === slug))
    if (missing !== undefined) throw notFound(`badge does not exist [slug: ${missing}]`)
    await giveBadges(tx, user.id, found)
    await recordAudit(tx, by, { action: 'user.badges_add', subject: subjectOf(user), after: { badges: slugs } })
  })
}

/** Wire: a badge that is not defined, or that the user does not have, is passed over. */
export async function takeUserBadges({ db }: Context, { user, by, slugs }: Change): Promise<void> {
  await db.transaction(async (tx) => {
    const found = await findBadges(tx, slugs)
    if (found.length === 0) return
    await takeBadges(tx, user.id, found)
    await recordAudit(tx, by, { action: 'user.badges_remove', subject: subjectOf(user), before: { badges: slugs } })
  })
}

/** @throws Refusal 409 for a slug in use, 422 for a picture's address that is none */
export async function createBadge({ db }: Context, by: Actor, option: CreateBadgeOption): Promise<BadgeRow> {
  requireImageUrl(option.image_url)
  const { slug, description, image_url: imageUrl } = option
  try {
    return await db.transaction(async (tx) => {
      const row = await insertBadge(tx, { slug, description, imageUrl })
      const subject = { kind: 'badge', id: row.id, name: slug }
      await recordAudit(tx, by, { action: 'badge.create', subject, after: { description, imageUrl } })
      return row
    })
  } catch (error) {
    if (violatedConstraint(error) !== 'badges_slug_key') throw error
    throw conflict('a badge with this slug exists already')
  }
}

/** @throws Refusal 404 for an unknown slug, 422 for a picture's address that is none */
export async function editBadge(
  { db }: Context,
  by: Actor,
  { slug, option }: { slug: string; option: EditBadgeOption },
): Promise<BadgeRow> {
  requireImageUrl(option.image_url)
  const change = { description: option.description, imageUrl: option.image_url }
  return db.transaction(async (tx) => {
    const [before] = await findBadges(tx, [slug])
    if (before === undefined) throw notFound()
    if (change.description === undefined && change.imageUrl === undefined) return before
    const row = await updateBadge(tx, slug, change)
    if (row === undefined) throw notFound()
    const subject = { kind: 'badge', id: row.id, name: slug }
    await recordAudit(tx, by, { action: 'badge.edit', subject, before, after: change })
    return row
  })
}

/** @throws Refusal 404 for an unknown slug */
export async function deleteBadge({ db }: Context, by: Actor, slug: string): Promise<void> {
  await db.transaction(async (tx) => {
    const row = await removeBadge(tx, slug)
    if (row === undefined) throw notFound()
    await recordAudit(tx, by, {
      action: 'badge.delete',
      subject: { kind: 'badge', id: row.id, name: slug },
      before: row,
    })
  })
}

function requireImageUrl(text: string | undefined): void {
  if (text !== undefined && !isWebsite(text)) throw invalid('Url', 'image_url')
}

const subjectOf = (user: UserRow) => ({ kind: 'user', id: user.id, name: user.name })
