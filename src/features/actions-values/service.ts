import type { Db } from '../../../db/client.ts'
import type { ActionsValueRow } from '../../../db/schema/actions-values.ts'
import { violatedConstraint } from '../../../db/violations.ts'
import { requireOwnedQuota } from '../../access/quota.ts'
import { type AuditEntry, recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { conflict, notFound } from '../../kernel/errors.ts'
import { readName } from './name.ts'
import type { CreateOrUpdateSecretOption, CreateVariableOption, UpdateVariableOption } from './schema.ts'
import { countValues, findValue, type Holder, insertValue, removeValue, updateValue } from './store.ts'

/** One value of a holder, by the name in the path, and who asks. */
export interface Target {
  actor: Actor
  holder: Holder
  name: string
}

/**
 * Makes a secret, or gives it another value. A description that is left out stays.
 * @returns whether it was made
 * @throws Refusal 400 for a name that is none, 422 for one more than MAX_OWNED
 */
export async function putSecret(
  context: Context,
  { actor, holder, name: path }: Target,
  { data, description }: CreateOrUpdateSecretOption,
): Promise<boolean> {
  const name = readName(path)
  const value = { sealedValue: context.secrets.seal('actions secret', data), description }
  return context.db.transaction(async (tx) => {
    const made = await insertValue(tx, holder, { name, ...value })
    if (made) await requireQuota(context, tx, holder)
    // A secret that is deleted at the same instant makes the client try again.
    const row = made ?? (await updateValue(tx, holder, name, value))
    if (!row) throw conflict('the secret was deleted at the same time: try again')
    await recordAudit(tx, actor, {
      action: made ? 'actions_secret.create' : 'actions_secret.edit',
      subject: subjectOf(row),
      // That the value changed is said, and never which it is.
      after: { ...auditView(row), secret: 'set' },
    })
    return made !== undefined
  })
}

/** @throws Refusal 404, also for another holder's */
export async function getVariable({ db }: Context, holder: Holder, name: string): Promise<ActionsValueRow> {
  const row = await findValue(db, holder, name.toUpperCase())
  if (!row) throw notFound()
  return row
}

/** @throws Refusal 400 for a name that is none, 409 for one that is taken, 422 for one more than MAX_OWNED */
export async function createVariable(
  context: Context,
  { actor, holder, name: path }: Target,
  { value, description }: CreateVariableOption,
): Promise<void> {
  const name = readName(path)
  await context.db.transaction(async (tx) => {
    const row = await insertValue(tx, holder, { name, value, description })
    if (!row) throw conflict(`a variable ${name} exists already`)
    await requireQuota(context, tx, holder)
    await recordAudit(tx, actor, { action: 'actions_variable.create', subject: subjectOf(row), after: auditView(row) })
  })
}

/** @throws Refusal 400 for a name that is none, 404, 409 for a new name that is taken */
export async function editVariable(
  { db }: Context,
  { actor, holder, name: path }: Target,
  { name: rename, value, description }: UpdateVariableOption,
): Promise<void> {
  const name = rename ? readName(rename) : undefined
  try {
    await db.transaction(async (tx) => {
      const row = await updateValue(tx, holder, path.toUpperCase(), { name, value, description })
      if (!row) throw notFound()
      const entry: AuditEntry = { action: 'actions_variable.edit', subject: subjectOf(row), after: auditView(row) }
      await recordAudit(tx, actor, { ...entry, before: { name: path.toUpperCase() } })
    })
  } catch (error) {
    if (violatedConstraint(error)?.match(/^actions_values_.*_key$/)) throw conflict(`a variable ${name} exists already`)
    throw error
  }
}

/** @throws Refusal 400 for a name that is none, 404, also for another holder's */
export async function deleteValue({ db }: Context, { actor, holder, name }: Target): Promise<void> {
  await db.transaction(async (tx) => {
    const row = await removeValue(tx, holder, readName(name))
    if (!row) throw notFound()
    await recordAudit(tx, actor, {
      action: `actions_${row.kind}.delete`,
      subject: subjectOf(row),
      before: auditView(row),
    })
  })
}

const requireQuota = ({ config }: Context, tx: Db, holder: Holder): Promise<void> =>
  requireOwnedQuota(tx, config, {
    items: `actions ${holder.kind}s`,
    of: JSON.stringify(holder),
    count: () => countValues(tx, holder),
  })

const subjectOf = ({ kind, id, name }: ActionsValueRow) => ({ kind: `actions_${kind}`, id, name })

const auditView = ({ ownerId, repositoryId, name, value, description }: ActionsValueRow) => ({
  ownerId: ownerId ?? undefined,
  repositoryId: repositoryId ?? undefined,
  name,
  value: value ?? undefined,
  description,
})
