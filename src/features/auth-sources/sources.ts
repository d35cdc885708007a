import type { AuthSourceRow } from '../../../db/schema/auth-sources.ts'
import { violatedConstraint } from '../../../db/violations.ts'
import { requireOwnedQuota } from '../../access/quota.ts'
import { type AuditSource, recordAudit } from '../../audit/record.ts'
import type { Context } from '../../context.ts'
import { conflict, invalid, notFound } from '../../kernel/errors.ts'
import { type GroupTeam, replaceGroupTeams } from './groups.ts'
import { hasIdentities } from './identity-store.ts'
import { sealSecret, tryProvider } from './provider.ts'
import {
  countSources,
  insertSource,
  type NewSource,
  releaseAccounts,
  removePendingOf,
  removeSource,
  type SourceChange,
  updateSource,
} from './store.ts'

/** More buttons than a page of signing in can have. */
const MAX_SOURCES = 30
const MAX_GROUP_TEAMS = 500
const MAX_TEXT = 255
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$/

/** What is given of a source. What is left out stays, or is the default. */
export interface SourceOption extends Omit<SourceChange, 'clientSecret'> {
  /** Null for none. */
  secret?: string | null | undefined
  groupTeams?: readonly GroupTeam[] | undefined
  /** Whether the provider is asked first if it is one. */
  isTried: boolean
  /** Whether another issuer is the same provider at another address, which calls everybody as before. */
  hasSamePeople?: boolean
}

type NewOption = SourceOption & Pick<NewSource, 'name' | 'label' | 'issuer' | 'clientId' | 'scopes'>

/** @throws Refusal 422 for what cannot be, and where the provider is tried and does not answer as one */
export async function addSource(context: Context, option: NewOption, by: AuditSource): Promise<AuthSourceRow> {
  if (!NAME.test(option.name)) throw invalid('a name has letters, digits, dashes, dots and underscores, 40 at most')
  return save(context, option, by, async (tx, values) => {
    const { name, label, issuer, clientId, scopes } = option
    const source = await insertSource(tx, { ...values, name, label, issuer, clientId, scopes })
    const quota = { items: 'authentication sources', of: 'the site', count: () => countSources(tx) }
    await requireOwnedQuota(tx, { maxOwned: MAX_SOURCES }, quota)
    return source
  })
}

/**
 * @throws Refusal as `addSource`, 404 when it is gone, 409 for another issuer while people are connected: a subject is somebody's name at one
 * issuer alone, and somebody else's at another
 */
export const editSource = (
  context: Context,
  { source, option }: { source: AuthSourceRow; option: SourceOption },
  by: AuditSource,
): Promise<AuthSourceRow> =>
  save(
    context,
    option,
    by,
    async (tx, values) => {
      const edited = await updateSource(tx, source.id, values)
      if (edited && edited.issuer !== source.issuer && !option.hasSamePeople) await requireNoPeople(tx, source)
      return edited
    },
    source,
  )

async function requireNoPeople(tx: Context['db'], { id, issuer }: AuthSourceRow): Promise<void> {
  await removePendingOf(tx, id)
  if (await hasIdentities(tx, id))
    throw conflict(`people are connected with ${issuer}: another issuer has other people`)
}

/** @throws Refusal 404 when it is gone, 409 while accounts are of it, unless these become accounts of this site. @returns how many did */
export async function deleteSource(
  { db }: Context,
  { source, isReleasing }: { source: AuthSourceRow; isReleasing: boolean },
  by: AuditSource,
): Promise<number> {
  try {
    return await db.transaction(async (tx) => {
      const released = isReleasing ? await releaseAccounts(tx, source.id) : 0
      if (!(await removeSource(tx, source.id))) throw notFound()
      await recordAudit(tx, by, { action: 'auth_source.delete', subject: subjectOf(source), before: factsOf(source) })
      return released
    })
  } catch (error) {
    if (violatedConstraint(error) !== 'users_source_id_auth_sources_id_fk') throw error
    throw conflict('accounts sign in by this source')
  }
}

type Values = Omit<SourceChange, 'id' | 'name'>

async function save(
  context: Context,
  option: SourceOption,
  by: AuditSource,
  write: (tx: Context['db'], values: Values) => Promise<AuthSourceRow | undefined>,
  before?: AuthSourceRow,
): Promise<AuthSourceRow> {
  const { secret, groupTeams, isTried, hasSamePeople: _, ...given } = option
  requirePossible(given, groupTeams)
  const clientSecret = typeof secret === 'string' ? sealSecret(context, secret) : secret
  try {
    return await context.db.transaction(async (tx) => {
      const source = await write(tx, { ...given, clientSecret })
      if (!source) throw notFound()
      if (groupTeams !== undefined) {
        const [unknown] = await replaceGroupTeams(tx, source.id, groupTeams)
        if (unknown) throw invalid(`there is no team ${unknown.organization}/${unknown.team}`)
      }
      const action = before === undefined ? 'auth_source.create' : 'auth_source.edit'
      const after = { ...factsOf(source), groupTeams, ...(secret === undefined ? {} : { secret: 'given' }) }
      await recordAudit(tx, by, { action, subject: subjectOf(source), before: before && factsOf(before), after })
      // Before the commit: a source that does not answer is not stored.
      if (isTried) await tryProvider(context, source)
      return source
    })
  } catch (error) {
    if (violatedConstraint(error) !== 'auth_sources_name_key') throw error
    throw invalid('there is a source of this name already')
  }
}

function requirePossible(given: Values, groupTeams: readonly GroupTeam[] = []): void {
  const { issuer, label, scopes, clientId, requiredClaim, requiredValue, groupClaim } = given
  if (issuer !== undefined && !isIssuer(issuer))
    throw invalid('an issuer is an address with https:// or http://, without query and fragment')
  if (label !== undefined && (label === '' || label.length > 100)) throw invalid('a label has 1 to 100 characters')
  if (scopes !== undefined && (!scopes.includes('openid') || scopes.length > 50))
    throw invalid('the scopes must have the word openid, and 50 words at most')
  const texts = [clientId, requiredClaim, requiredValue, groupClaim, ...(scopes ?? [])]
  if (texts.some((text) => typeof text === 'string' && (text === '' || text.length > MAX_TEXT)))
    throw invalid(`each text has 1 to ${MAX_TEXT} characters`)
  if (groupTeams.length > MAX_GROUP_TEAMS) throw invalid(`at most ${MAX_GROUP_TEAMS} teams`)
}

/** OpenID Connect Discovery, 3. */
function isIssuer(text: string): boolean {
  const url = URL.parse(text)
  if (!url || text.length > 2048 || !/^https?:$/.test(url.protocol)) return false
  return url.search === '' && url.hash === '' && !/[?#]/.test(text) && url.username === '' && url.password === ''
}

const subjectOf = ({ id, name }: AuthSourceRow) => ({ kind: 'auth_source', id, name })

const factsOf = ({ clientSecret: _, createdAt: _created, updatedAt: _updated, id: _id, ...facts }: AuthSourceRow) =>
  facts
