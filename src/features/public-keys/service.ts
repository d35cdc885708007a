import type { PublicKeyRow } from '../../../db/schema/credentials.ts'
import type { UserRow } from '../../../db/schema/users.ts'
import { violatedConstraint } from '../../../db/violations.ts'
import { maySeeOwner } from '../../access/decide.ts'
import { requireOwnedQuota } from '../../access/quota.ts'
import { recordAudit } from '../../audit/record.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { forbidden, invalid, notFound } from '../../kernel/errors.ts'
import { parsePublicKey } from './parse.ts'
import type { CreateKeyOption } from './schema.ts'
import { countKeys, findKey, insertKey, removeKey } from './store.ts'

/** @throws Refusal 422 for an organization, for a key that cannot be taken, for one that is known on the site and for a title in use */
export async function addKey(
  { db, config }: Context,
  { owner, by }: { owner: UserRow; by: Actor },
  option: CreateKeyOption,
): Promise<PublicKeyRow> {
  if (owner.kind !== 'user') throw invalid(`${owner.name} is an organization not a user`)
  const parsed = parsePublicKey(option.key)
  const key = {
    userId: owner.id,
    title: option.title,
    key: parsed.line,
    keyType: parsed.kind,
    fingerprint: parsed.fingerprint,
    isReadOnly: option.read_only ?? false,
  }
  try {
    return await db.transaction(async (tx) => {
      const row = await insertKey(tx, key)
      await requireOwnedQuota(tx, config, {
        items: 'keys',
        of: `account ${owner.id}`,
        count: () => countKeys(tx, owner.id),
      })
      const after = { title: row.title, fingerprint: row.fingerprint, kind: row.keyType, owner: owner.name }
      await recordAudit(tx, by, { action: 'public_key.create', subject: subjectOf(row), after })
      return row
    })
  } catch (error) {
    const constraint = violatedConstraint(error)
    if (constraint === 'public_keys_fingerprint_key') throw invalid('Key content has been used as non-deploy key')
    if (constraint === 'public_keys_user_title_key') throw invalid('Key title has been used')
    throw error
  }
}

/** @throws Refusal 404 for an unknown key and for that of another person */
export async function getOwnKey({ db }: Context, actor: Actor, id: number | undefined): Promise<PublicKeyRow> {
  const found = id === undefined ? undefined : await findKey(db, id)
  if (found?.owner.id !== actor.user.id) throw notFound()
  return found.key
}

/**
 * @throws Refusal 404 for an unknown key. Wire: 403 for that of another person; where the caller may not know of the person it is
 * 404 too, since public keys are listed to those who may.
 */
export async function deleteKey(
  { db, config }: Context,
  { owner, by }: { owner: UserRow; by: Actor },
  id: number | undefined,
): Promise<void> {
  const found = id === undefined ? undefined : await findKey(db, id)
  if (!found || !maySeeOwner(config, by, found.owner, false)) throw notFound()
  if (found.owner.id !== owner.id) throw forbidden('You do not have access to this key')
  const { key } = found
  await db.transaction(async (tx) => {
    if (!(await removeKey(tx, owner.id, key.id))) throw notFound()
    const before = { title: key.title, fingerprint: key.fingerprint, kind: key.keyType, owner: owner.name }
    await recordAudit(tx, by, { action: 'public_key.delete', subject: subjectOf(key), before })
  })
}

const subjectOf = (key: PublicKeyRow) => ({ kind: 'public_key', id: key.id, name: key.title })
