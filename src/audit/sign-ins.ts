import { and, eq, gte, sql } from 'drizzle-orm'
import { type Db, prepared } from '../../db/client.ts'
import { signInAddresses } from '../../db/schema/credentials.ts'
import type { SignInJournal } from '../auth/sign-ins.ts'
import { networkOf } from '../kernel/network.ts'
import type { Clock } from '../kernel/time.ts'
import { recordAudit } from './record.ts'

const DAY_MS = 86_400_000

const seenSince = prepared((db) =>
  db
    .select({ network: signInAddresses.network })
    .from(signInAddresses)
    .where(
      and(
        eq(signInAddresses.userId, sql.placeholder('userId')),
        eq(signInAddresses.network, sql.placeholder('network')),
        gte(signInAddresses.lastSeenAt, sql.placeholder('since')),
      ),
    )
    .prepare('sign_in_address_seen'),
)

/** Stores each network that a person signs in from, and updates it at most once a day. `users/tasks.ts` deletes old ones. */
export function createSignInJournal({ db, clock }: { db: Db; clock: Clock }): SignInJournal {
  return {
    async signedIn(user, origin, method) {
      if (origin.address === undefined) return
      const [network, now] = [networkOf(origin.address), clock.now()]
      const aDayAgo = new Date(now.getTime() - DAY_MS)
      // Nearly every sign-in ends here, without a write: an upsert that changes nothing locks its row, and waits for the disk.
      if ((await seenSince(db).execute({ userId: user.id, network, since: aDayAgo })).length > 0) return
      await db.transaction(async (tx) => {
        const [row] = await tx
          .insert(signInAddresses)
          .values({ userId: user.id, network, lastSeenAt: now })
          .onConflictDoUpdate({
            target: [signInAddresses.userId, signInAddresses.network],
            set: { lastSeenAt: now },
            setWhere: sql`${signInAddresses.lastSeenAt} < ${aDayAgo.toISOString()}::timestamptz`,
          })
          // A row that was there before names the transaction that has just replaced it.
          .returning({ isNew: sql<boolean>`xmax = 0` })
        if (!row?.isNew) return
        const subject = { kind: 'user', id: user.id, name: user.name }
        const actor = { user, method, publicOnly: false, origin } as const
        await recordAudit(tx, actor, { action: 'auth.sign_in', subject, after: { network } })
      })
    },
    async slowedDown(subject, origin) {
      const who =
        'network' in subject
          ? { kind: 'network', name: subject.network }
          : // What was given for a name is left out where nobody has it: it may be a password in the wrong field.
            { kind: 'user', id: subject.user?.id, name: subject.user?.name }
      await recordAudit(db, 'system', { action: 'auth.slow_down', subject: who, origin })
    },
  }
}
