import { randomUUID } from 'node:crypto'
import type { OAuthApplicationRow } from '../../../db/schema/oauth.ts'
import { requireOwnedQuota } from '../../access/quota.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import { makeOAuthSecret } from '../../auth/oauth-secrets.ts'
import type { Context } from '../../context.ts'
import { forbidden, invalid, notFound } from '../../kernel/errors.ts'
import { sha256Hex } from '../../kernel/hashing.ts'
import { redirectUriFault } from './redirect-uris.ts'
import type { CreateOAuth2ApplicationOptions } from './schema.ts'
import {
  countApplications,
  findApplication,
  insertApplication,
  isBuiltIn,
  lockApplication,
  removeApplication,
  updateApplication,
} from './store.ts'

export interface ApplicationWithSecret {
  row: OAuthApplicationRow
  /** Shown once. Only its hash is stored. */
  secret: string
}

/** @throws Refusal 422 for an address that people cannot be sent back to and for one application too many, 403 as `settingsOf` */
export async function createApplication(
  { db, config }: Context,
  actor: Actor,
  option: CreateOAuth2ApplicationOptions,
): Promise<ApplicationWithSecret> {
  const settings = settingsOf(actor, option)
  const secret = makeOAuthSecret('client')
  const ownerId = actor.user.id
  const row = await db.transaction(async (tx) => {
    const identity = { ownerId, clientId: randomUUID(), secretHash: sha256Hex(secret) }
    const made = await insertApplication(tx, { ...settings, ...identity })
    await requireOwnedQuota(tx, config, {
      items: 'applications',
      of: `account ${ownerId}`,
      count: () => countApplications(tx, ownerId),
    })
    await recordAudit(tx, actor, { action: 'oauth_application.create', subject: subjectOf(made), after: factsOf(made) })
    return made
  })
  return { row, secret }
}

/** @throws Refusal 404 for an unknown one and for that of another person */
export async function getApplication(
  { db }: Context,
  actor: Actor,
  id: number | undefined,
): Promise<OAuthApplicationRow> {
  const row = id === undefined ? undefined : await findApplication(db, actor.user.id, id)
  if (!row) throw notFound()
  return row
}

/** @throws Refusal as `createApplication` and `getApplication`, 403 for a built-in one */
export async function editApplication(
  context: Context,
  actor: Actor,
  { id, option }: { id: number | undefined; option: CreateOAuth2ApplicationOptions },
): Promise<OAuthApplicationRow> {
  const settings = settingsOf(actor, option)
  return change(context, actor, { id, change: settings, action: 'oauth_application.edit' })
}

/** The old secret stops working with the commit. Wire: every edit by the API does this too. */
export async function regenerateSecret(
  context: Context,
  actor: Actor,
  { id, option }: { id: number | undefined; option?: CreateOAuth2ApplicationOptions },
): Promise<ApplicationWithSecret> {
  const settings = option === undefined ? {} : settingsOf(actor, option)
  const secret = makeOAuthSecret('client')
  const all = { ...settings, secretHash: sha256Hex(secret) }
  return { row: await change(context, actor, { id, change: all, action: 'oauth_application.new_secret' }), secret }
}

/** With it go the grants that people gave it, and all tokens. @throws Refusal 404 as `getApplication`, 403 for a built-in one */
export async function deleteApplication({ db }: Context, actor: Actor, id: number | undefined): Promise<void> {
  await db.transaction(async (tx) => {
    const gone = id === undefined ? undefined : await removeApplication(tx, actor.user.id, id)
    if (!gone) throw await refusalFor(tx, id)
    await recordAudit(tx, actor, {
      action: 'oauth_application.delete',
      subject: subjectOf(gone),
      before: factsOf(gone),
    })
  })
}

interface Change {
  id: number | undefined
  change: Parameters<typeof updateApplication>[2]
  action: `${string}.${string}`
}

async function change({ db }: Context, actor: Actor, { id, change, action }: Change): Promise<OAuthApplicationRow> {
  return db.transaction(async (tx) => {
    const before = id === undefined ? undefined : await lockApplication(tx, actor.user.id, id)
    if (!before) throw await refusalFor(tx, id)
    const after = await updateApplication(tx, before.id, change)
    await recordAudit(tx, actor, { action, subject: subjectOf(after), before: factsOf(before), after: factsOf(after) })
    return after
  })
}

/** Everybody knows the built-in ones, so that nothing is given away. */
async function refusalFor(tx: Context['db'], id: number | undefined) {
  const isLocked = id !== undefined && (await isBuiltIn(tx, id))
  return isLocked ? forbidden('this application is built in') : notFound()
}

/** @throws Refusal 422 for an address that people cannot be sent back to, 403 for skipping consent by somebody who is no administrator */
function settingsOf({ user }: Actor, option: CreateOAuth2ApplicationOptions) {
  for (const uri of option.redirect_uris) {
    const fault = redirectUriFault(uri)
    if (fault !== undefined) throw invalid(`${JSON.stringify(uri.slice(0, 200))} ${fault}`, 'redirect_uris')
  }
  const skipsConsent = option.skip_secondary_authorization ?? false
  if (skipsConsent && !user.isAdmin)
    throw forbidden('only an administrator may let people be sent on without being asked')
  return {
    name: option.name,
    redirectUris: option.redirect_uris,
    isConfidential: option.confidential_client ?? false,
    skipsConsent,
  }
}

const subjectOf = ({ id, name }: OAuthApplicationRow) => ({ kind: 'oauth_application', id, name })

const factsOf = ({ name, redirectUris, isConfidential, skipsConsent, secretHash }: OAuthApplicationRow) => ({
  name,
  redirectUris,
  isConfidential,
  skipsConsent,
  secretHash,
})
