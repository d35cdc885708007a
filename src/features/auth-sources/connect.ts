import { violatedConstraint } from '../../../db/violations.ts'
import { recordAudit } from '../../audit/record.ts'
import { endSessions } from '../../auth/sessions.ts'
import type { Context } from '../../context.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import { mailLetter } from '../../mail/send.ts'
import type { SignedIn } from '../passkeys/service.ts'
import { editUser } from '../users/edit.ts'
import { identityConnected } from '../users/letters.ts'
import { lockAccount } from '../users/lock.ts'
import { takeOnce } from './arrival.ts'
import { applyGroups } from './groups.ts'
import { insertIdentity, removeIdentity } from './identity-store.ts'
import type { Pending } from './store.ts'
import { requireWayIn } from './ways-in.ts'

/**
 * Lets somebody sign in to their account by who they are at a source. They have shown both: this session, and what the source has said of
 * this browser. Nothing else connects two accounts, above all no address.
 * @throws Refusal 422 where it is somebody else's, or the account is connected with another one there, 409 when it was done already
 */
export async function connect(context: Context, actor: SignedIn, { pending, source }: Pending): Promise<void> {
  const { user } = actor
  const { subject, label, profile } = pending
  try {
    await context.db.transaction(async (tx) => {
      await takeOnce(tx, pending)
      const row = await insertIdentity(tx, { userId: user.id, sourceId: source.id, subject, label })
      await applyGroups(tx, { source, user, groups: profile.groups })
      const after = { owner: user.name, source: source.name, subject }
      await recordAudit(tx, actor, { action: 'external_identity.create', subject: subjectOf(row), after })
      await mailLetter(context, tx, identityConnected({ user, by: actor, baseUrl: context.baseUrl }, source.label))
    })
  } catch (error) {
    const constraint = violatedConstraint(error)
    if (constraint === 'external_identities_subject_key')
      throw invalid(`${label} of ${source.label} is connected with another account here`)
    if (constraint === 'external_identities_user_key')
      throw invalid(`your account is connected with somebody else at ${source.label}: disconnect that first`)
    throw error
  }
}

/**
 * Takes such a way in away. All other sessions end: it may be what somebody else has come in by.
 * @throws Refusal 404 when this person has no such connection, 422 when nothing would be left to sign in with
 */
export async function disconnect(context: Context, actor: SignedIn, id: number | undefined): Promise<void> {
  await context.db.transaction(async (tx) => {
    const user = await lockAccount(tx, actor.user.id)
    const gone = user && id !== undefined ? await removeIdentity(tx, user.id, id) : undefined
    if (!user || !gone) throw notFound()
    await requireWayIn(tx, user.id)
    if (user.sourceId === gone.sourceId) await editUser(tx, user, { sourceId: null, loginName: '' }, actor)
    await endSessions(tx, user.id, actor.session)
    const before = { owner: user.name, subject: gone.subject }
    await recordAudit(tx, actor, { action: 'external_identity.delete', subject: subjectOf(gone), before })
  })
}

const subjectOf = ({ id, label }: { id: number; label: string }) => ({ kind: 'external_identity', id, name: label })
