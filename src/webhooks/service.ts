import type { HookRow, NewHook } from '../../db/schema/hooks.ts'
import { requireOwnedQuota } from '../access/quota.ts'
import { recordAudit } from '../audit/record.ts'
import type { Actor } from '../auth/actor.ts'
import type { StoredPurpose } from '../auth/secrets.ts'
import type { Context } from '../context.ts'
import { notFound } from '../kernel/errors.ts'
import { parseId } from '../kernel/ids.ts'
import type { ShownHook } from '../wire/hook.ts'
import { sealAddress } from './address.ts'
import { readConfig, readNewConfig, requireBranchFilter, requireHeaderValue, requireHookType } from './config.ts'
import { normaliseEvents } from './events.ts'
import { resumeHook } from './pause.ts'
import type { CreateHookOption, EditHookOption } from './schema.ts'
import { countHooks, findHook, type HookParent, insertHook, lockHook, removeHook, updateHook } from './store.ts'

const MAX_HEADER_LENGTH = 4096

/**
 * Wire: below `/admin` a hook is for new repositories unless its `config` says that it is of the whole site.
 * @throws Refusal 422 for a type, an address or a pattern that is none, 400 for a Slack channel that is none
 */
export async function createHook(
  context: Context,
  { actor, parent, option }: { actor: Actor; parent: HookParent; option: CreateHookOption },
): Promise<ShownHook> {
  const type = requireHookType(option.type)
  const { isSystem, secret, url, ...config } = readNewConfig(type, option.config)
  const values: NewHook = {
    ...placeOf(parent, isSystem),
    ...config,
    ...sealAddress(context, url),
    ...readCommon(context, option),
    type,
    name: option.name,
    secret: seal(context, 'hook secret', secret ?? ''),
    isActive: option.active,
  }
  const hook = await context.db.transaction(async (tx) => {
    const row = await insertHook(tx, values)
    await requireOwnedQuota(tx, context.config, {
      items: 'hooks',
      of: JSON.stringify(parent),
      count: () => countHooks(tx, parent),
    })
    await recordAudit(tx, actor, { action: 'hook.create', subject: subjectOf(row), after: auditView(row) })
    return row
  })
  return showHook(context, hook)
}

/** @throws Refusal 404 for another parent's hook and for what is no number */
export async function getHook({ db }: Context, parent: HookParent, id: string): Promise<HookRow> {
  const number = parseId(id)
  const hook = number === undefined ? undefined : await findHook(db, parent, number)
  if (!hook) throw notFound()
  return hook
}

/**
 * Wire: the filter and the header that are left out are cleared, and events that are left out become pushes; the rest stays.
 * @throws Refusal 404 for another parent's hook, 422 and 400 as `createHook`
 */
export async function editHook(
  context: Context,
  { actor, parent, id, option }: { actor: Actor; parent: HookParent; id: string; option: EditHookOption },
): Promise<ShownHook> {
  const { id: hookId, type } = await getHook(context, parent, id)
  const { isSystem: _, secret, settings, url, ...config } = readConfig(type, option.config ?? {})
  const change: Partial<NewHook> = {
    ...config,
    ...readCommon(context, option),
    name: option.name,
    secret: secret === undefined ? undefined : seal(context, 'hook secret', secret),
    isActive: option.active,
  }
  const hook = await context.db.transaction(async (tx) => {
    const before = await lockHook(tx, parent, hookId)
    if (!before) throw notFound()
    // Settings that are left out stay as they are by now.
    const merged = settings && { ...before.settings, ...settings }
    // A client that sends back what it was shown means the address that is there.
    const address = url === undefined || url === before.url ? {} : sealAddress(context, url)
    const row = await updateHook(tx, parent, { id: hookId, ...change, ...address, settings: merged })
    if (!row) throw notFound()
    if (row.isActive && (!before.isActive || (before.pausedAt !== null && option.active === true)))
      await resumeHook(tx, row, context.clock.now())
    const entry = {
      action: 'hook.edit',
      subject: subjectOf(row),
      before: auditView(before),
      after: auditView(row),
    } as const
    await recordAudit(tx, actor, entry)
    return row
  })
  return showHook(context, hook)
}

/** @throws Refusal 404 for another parent's hook */
export async function deleteHook(
  { db }: Context,
  { actor, parent, id }: { actor: Actor; parent: HookParent; id: string },
): Promise<void> {
  const number = parseId(id)
  await db.transaction(async (tx) => {
    const gone = number === undefined ? undefined : await removeHook(tx, parent, number)
    if (!gone) throw notFound()
    await recordAudit(tx, actor, { action: 'hook.delete', subject: subjectOf(gone), before: auditView(gone) })
  })
}

/** Opens what those may see who may change the hook. */
export const showHook = ({ secrets }: Context, hook: HookRow): ShownHook => ({
  hook,
  authorizationHeader: hook.authorizationHeader
    ? (secrets.tryOpen('hook authorization', hook.authorizationHeader) ?? UNREADABLE)
    : '',
})

/** In place of a header that was sealed with another secret key. The hook can still be read, and given another one. */
const UNREADABLE = '(cannot be opened: it was sealed with another secret key)'

/** What both operations read alike. */
function readCommon(
  context: Context,
  option: EditHookOption,
): Pick<NewHook, 'events' | 'branchFilter' | 'authorizationHeader'> {
  const header = option.authorization_header ?? ''
  requireHeaderValue(header, 'authorization_header', MAX_HEADER_LENGTH)
  return {
    events: normaliseEvents(option.events),
    branchFilter: requireBranchFilter(option.branch_filter ?? ''),
    authorizationHeader: seal(context, 'hook authorization', header),
  }
}

const seal = ({ secrets }: Context, purpose: StoredPurpose, text: string): Uint8Array | null =>
  text === '' ? null : secrets.seal(purpose, text)

function placeOf(parent: HookParent, isSystem: boolean): Pick<NewHook, 'scope' | 'ownerId' | 'repositoryId'> {
  if ('repositoryId' in parent) return { scope: 'repository', repositoryId: parent.repositoryId }
  if ('ownerId' in parent) return { scope: 'owner', ownerId: parent.ownerId }
  return { scope: isSystem ? 'site' : 'default' }
}

const subjectOf = ({ id, name, scope }: HookRow) => ({ kind: `${scope} hook`, id, name })

/** For the audit trail: an address may carry a password or a key, and the trail is read by others than the hook. */
function auditView({
  secret,
  authorizationHeader,
  url,
  sealedUrl: _sealed,
  settings: _settings,
  ...row
}: HookRow): object {
  return { ...row, host: new URL(url).host, hasSecret: secret !== null, hasAuthorization: authorizationHeader !== null }
}
